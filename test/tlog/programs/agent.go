// Holds the key of a witness, as an SSH agent does: litewitness takes it from nowhere else.
package main

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"net"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// serveKey answers until the process is ended.
func serveKey(socket string, input io.Reader) error {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(input, seed); err != nil {
		return err
	}
	private := ed25519.NewKeyFromSeed(seed)
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		return err
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Println(ssh.FingerprintSHA256(public))
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go agent.ServeAgent(keyring, connection)
	}
}
