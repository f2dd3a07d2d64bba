package rewrite

// Limits on what a module may hold. They keep the engine, which allocates what a module's numbers say, from being made
// to allocate gigabytes by a small file; what compilers emit stays far below them.
const (
	maxTypes      = 100_000
	maxParams     = 255 // of one function or block
	maxResults    = 64  // of one function or block: an instruction of three bytes may push that many values
	maxImports    = 1_000
	maxFunctions  = 200_000
	maxTables     = 16
	maxGlobals    = 10_000
	maxExports    = 10_000
	maxElements   = 10_000    // element segments
	maxEntries    = 1_000_000 // entries of all element segments together
	maxSegments   = 200_000   // data segments
	maxBody       = 7_654_321 // bytes of one function, the limit of browsers
	maxBranches   = 20_000    // of one function: wazero's compiler takes quadratic time in them, this many some seconds
	maxLocals     = 50_000    // of one function, the limit of browsers
	maxLocalsSum  = 4_000_000 // of all functions: the engine keeps 8 bytes for each, written or not
	maxName       = 1 << 10   // bytes of an import's or export's name
	maxMemorySize = 1 << 16   // pages of 64 KiB
)
