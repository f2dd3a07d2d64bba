// Package hosttest runs the real program for tests: the binary that users get, in a directory of its own, with an
// environment that holds nothing but what the test said.
//
// There are two ways to use it. A script (see [Target.Scripts]) is what a user could type and needs no Go: to add a
// test, add a .txtar file to host/hosttest/testdata or to a pack's own testdata. A Go test takes a [Server] when it has to
// kill the process, hang up in the middle of a call or count bytes.
//
// Other people's services are stand-ins: small real servers that keep to the service's own rules, and break them on demand
// (see [Fault]). A pack's own tests use them too.
package hosttest
