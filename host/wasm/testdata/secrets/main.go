// Command secrets is a module that uses credentials in every way there is and says when it has.
package main

import (
	"fmt"

	"github.com/gantry-packs/gantry/pdk"
)

type input struct {
	Marker   string            `json:"marker"`
	Requests []pdk.HTTPRequest `json:"requests"`
	Sign     []pdk.SignRequest `json:"sign"`
	Look     string            `json:"look"`
}

type output struct {
	Said []string `json:"said"`
}

//go:wasmexport secrets
func export() int32 { return pdk.Run(run) }

func run(in input) (output, error) {
	var out output
	say := func(v any, err error) {
		text := fmt.Sprintf("%+v %v", v, err)
		out.Said = append(out.Said, text)
		pdk.Log(pdk.Info, "%s", text)
		pdk.Progress(0, text) // the test looks into the memory here
	}
	for _, r := range in.Requests {
		resp, err := pdk.Send(r)
		say(resp, err)
		if err == nil {
			body, err := pdk.ResponseBytes(resp)
			say(string(body), err)
			a, err := pdk.PutArtifact("answer.txt", "", pdk.NewBlob(body))
			say(a, err)
		}
	}
	for _, r := range in.Sign {
		say(pdk.Sign(r))
	}
	say(pdk.Look(in.Look))
	return out, nil
}

func main() {}
