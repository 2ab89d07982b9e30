// Reads the public log with the libraries of others: golang.org/x/mod for trees and notes, filippo.io/torchwood for the names of
// tiles, bundles and proofs, Tessera's fsck. It shares no code with the service.
//
//	tlogcheck log FOLDER VKEY SIZE          checks the log of this size in a folder that has it as the store does
//	tlogcheck served URL VKEY               checks the log that a server answers with below this address
//	tlogcheck proof BODY VKEY… < PROOF      checks a proof of a body that was published; all keys must have signed
//	tlogcheck agent SOCKET < SEED           holds a key for litewitness, and prints its fingerprint
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "log":
		size, err := strconv.ParseInt(args[3], 10, 64)
		if err != nil {
			return err
		}
		return checkLog(filepath.Join(args[1], "log"), args[2], size)
	case len(args) == 3 && args[0] == "served":
		return checkServed(args[1], args[2])
	case len(args) >= 3 && args[0] == "proof":
		return checkProof(os.Stdin, args[1], args[2:])
	case len(args) == 2 && args[0] == "agent":
		return serveKey(args[1], os.Stdin)
	}
	return errors.New("usage: tlogcheck log|served|proof|agent …")
}

// checkLog checks the checkpoint, every entry with its proof, and that the tree continues each of the earlier checkpoints.
func checkLog(log, vkey string, size int64) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	tree, err := readCheckpoint(log, verifier, size)
	if err != nil {
		return err
	}
	tiles, err := torchwood.NewTileFS(os.DirFS(log))
	if err != nil {
		return err
	}
	hashes := torchwood.TileHashReaderWithContext(context.Background(), tree, tiles)
	root, err := tlog.TreeHash(size, hashes)
	if err != nil {
		return err
	}
	if root != tree.Hash {
		return fmt.Errorf("the tiles have the root %v, the checkpoint %v", root, tree.Hash)
	}
	if err := checkEntries(log, tree, hashes); err != nil {
		return err
	}
	return checkHistory(log, verifier, tree, hashes)
}

func readCheckpoint(log string, verifier note.Verifier, size int64) (tlog.Tree, error) {
	text, err := os.ReadFile(filepath.Join(log, "checkpoints", fmt.Sprintf("%08d", size)))
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	checkpoint, err := torchwood.ParseCheckpoint(opened.Text)
	if err != nil {
		return tlog.Tree{}, err
	}
	if checkpoint.N != size || checkpoint.Origin != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("checkpoint %d is of %q with %d entries", size, checkpoint.Origin, checkpoint.N)
	}
	return checkpoint.Tree, nil
}

func checkEntries(log string, tree tlog.Tree, hashes tlog.HashReader) error {
	for first := int64(0); first < tree.N; first += torchwood.TileWidth {
		width := min(torchwood.TileWidth, tree.N-first)
		tile := tlog.Tile{H: torchwood.TileHeight, L: -1, N: first / torchwood.TileWidth, W: int(width)}
		bundle, err := os.ReadFile(filepath.Join(log, torchwood.TilePath(tile)))
		if err != nil {
			return err
		}
		for index := first; index < first+width; index++ {
			var entry []byte
			if entry, bundle, err = torchwood.ReadTileEntry(bundle); err != nil {
				return err
			}
			proof, err := tlog.ProveRecord(tree.N, index, hashes)
			if err != nil {
				return err
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(entry)); err != nil {
				return fmt.Errorf("entry %d: %w", index, err)
			}
		}
		if len(bundle) > 0 {
			return fmt.Errorf("%d bytes after the last entry of a bundle", len(bundle))
		}
	}
	return nil
}

func checkHistory(log string, verifier note.Verifier, tree tlog.Tree, hashes tlog.HashReader) error {
	for size := int64(1); size <= tree.N; size++ {
		old, err := readCheckpoint(log, verifier, size)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveTree(tree.N, size, hashes)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, size, old.Hash); err != nil {
			return fmt.Errorf("the first %d entries: %w", size, err)
		}
	}
	return nil
}
