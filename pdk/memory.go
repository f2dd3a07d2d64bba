package pdk

import "github.com/gantry-packs/gantry/pdk/wire"

// Memory is one thing that the caller asked to be remembered.
type Memory = wire.Memory

// MemoryPut asks for a value to be remembered; TTLSeconds 0 keeps it for ever.
type MemoryPut = wire.MemoryPut

// Plan is what the caller wants and the steps it means to take.
type Plan = wire.Plan

// PutMemory remembers a value for the caller, in place of one with the same category and key. Needs the permission memory.
func PutMemory(m MemoryPut) (Memory, error) { return ask[Memory](memoryPut, m) }

// GetMemory returns what the caller stored, or nil if there is nothing. Needs the permission memory.
func GetMemory(category, key string) (*Memory, error) {
	return ask[*Memory](memoryGet, wire.MemoryKey{Category: category, Key: key})
}

// ListMemory returns everything that the caller stored in a category. Needs the permission memory.
func ListMemory(category string) ([]Memory, error) {
	page, err := ask[wire.MemoryPage](memoryList, wire.MemoryKey{Category: category})
	return page.Memories, err
}

// DeleteMemory forgets a key of the caller, or the whole category if key is empty, and says how many values went.
// Needs the permission memory.
func DeleteMemory(category, key string) (int, error) {
	d, err := ask[wire.Deleted](memoryDelete, wire.MemoryKey{Category: category, Key: key})
	return d.Deleted, err
}

// PutPlan saves a plan of the caller, in place of one with the same intent, and returns its identity: the hex SHA-256 of the
// intent without blanks around it. Needs the permission memory.
func PutPlan(p Plan) (intentSHA string, err error) {
	saved, err := ask[wire.PlanSaved](planPut, p)
	return saved.IntentSHA, err
}
