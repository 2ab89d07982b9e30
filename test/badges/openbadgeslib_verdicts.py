"""Prints what openbadgeslib says of credentials and status lists, as JSON: for each why it is refused, or null.

Input, as JSON on standard input:
    documents: {address: document}, which take the place of the network;
    issuer: the DID that every credential has to be by;
    cases: [{document, status}]: a credential, with whether its status counts, or (status null) any signed document,
        of which the proof alone counts.
"""

import json
import sys

from openbadgeslib.ob3 import (
    OB3LdpVerifier,
    OB3VerificationError,
    resolve_verification_method,
    verify_data_integrity_proof,
)


def main():
    asked = json.load(sys.stdin)

    def download(url):
        return json.dumps(asked["documents"][url]).encode()

    def refusal(document, status):
        try:
            if status is None:
                key = resolve_verification_method(document["proof"][0]["verificationMethod"], download)
                verify_data_integrity_proof(document, key)
            else:
                verifier = OB3LdpVerifier.for_issuer_did(asked["issuer"])
                # It knows signed lists as JWT alone: the proofs of ours are cases of their own.
                text = json.dumps(document, ensure_ascii=False)
                verifier.verify(text, check_status=status, download=download, verify_status_list=False)
        except OB3VerificationError as error:
            return str(error)
        return None

    json.dump([refusal(case["document"], case["status"]) for case in asked["cases"]], sys.stdout)


main()
