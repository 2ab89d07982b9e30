// Has Tessera derive every tile of a log again from its entries.
package main

import (
	"context"
	"net/url"

	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
)

// With one worker it would wait for ever after the first tile that is wrong.
const workers = 16

func checkServed(address, vkey string) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	base, err := url.Parse(address)
	if err != nil {
		return err
	}
	source, err := client.NewHTTPFetcher(base, nil)
	if err != nil {
		return err
	}
	return fsck.New(verifier.Name(), verifier, source, leafHashes, fsck.Opts{N: workers}).Check(context.Background())
}

func leafHashes(bundle []byte) ([][]byte, error) {
	var entries api.EntryBundle
	if err := entries.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	var hashes [][]byte
	for _, entry := range entries.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return hashes, nil
}
