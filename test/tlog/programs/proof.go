// Checks proofs of what was published: a tlog-proof of a statement in the log, whose extra data are the path of the body in a
// tree of the statement, an empty line and the statement.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// checkProof takes the first key for that of the log, and the others for those of witnesses.
func checkProof(input io.Reader, bodyFile string, vkeys []string) error {
	proof, err := io.ReadAll(input)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(bodyFile)
	if err != nil {
		return err
	}
	log, err := note.NewVerifier(vkeys[0])
	if err != nil {
		return err
	}
	policies := []torchwood.Policy{torchwood.SingleVerifierPolicy(log), torchwood.OriginPolicy(log.Name())}
	for _, vkey := range vkeys[1:] {
		witness, err := torchwood.NewCosignatureVerifier(vkey)
		if err != nil {
			return err
		}
		policies = append(policies, torchwood.SingleVerifierPolicy(witness))
	}
	extra, err := torchwood.ProofExtraData(proof)
	if err != nil {
		return err
	}
	path, statement, found := bytes.Cut(extra, []byte("\n\n"))
	if !found {
		return errors.New("the proof has no statement")
	}
	policy := torchwood.ThresholdPolicy(len(policies), policies...)
	if err := torchwood.VerifyProof(policy, tlog.RecordHash(statement), proof); err != nil {
		return err
	}
	return checkBody(body, string(path), statement)
}

func checkBody(body []byte, path string, statement []byte) error {
	var trees map[string]json.RawMessage
	var members map[string]json.RawMessage
	var head struct {
		Root string
		Size int64
	}
	if err := json.Unmarshal(statement, &trees); err != nil {
		return err
	}
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	name := "agent"
	if _, found := members["user_id"]; found {
		name = "forecaster"
	}
	if err := json.Unmarshal(trees[name], &head); err != nil {
		return err
	}
	root, err := tlog.ParseHash(head.Root)
	if err != nil {
		return err
	}
	lines := strings.Split(path, "\n")
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "index "), 10, 64)
	if err != nil {
		return err
	}
	var hashes tlog.RecordProof
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		hashes = append(hashes, hash)
	}
	if err := tlog.CheckRecord(hashes, head.Size, root, index, tlog.RecordHash(body)); err != nil {
		return fmt.Errorf("the body in the tree %s: %w", name, err)
	}
	return nil
}
