# Checks that a public log has a body, or that a receipt acknowledges it: with public keys and the standard library alone.
# python3 verify.py ADDRESS KEY… fetches a record and its proof, and checks both and that it is the record at that address, such
# as https://…/agents/{agent_id}/verification.
import base64, hashlib, json, re, sys, threading, urllib.request

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def plain(text):
    """The text of others must not steer a terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def must(found, why):
    if not found:
        raise SystemExit(plain(why))
    return found


def say(words):
    print(plain(words))


def point_of(encoded):
    """A point of Ed25519 (RFC 8032, 5.1.3) as x, y, z, t with x/z and y/z its coordinates and t = xy/z."""
    y, sign = int.from_bytes(encoded, "little") % 2**255, encoded[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    must(y < P and (x * x - square) % P == 0 and (x or not sign), "this is no point of the curve")
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P


def plus(left, right):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = left, right
    a, b, c, d = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), 2 * D * t1 * t2, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(factor, point):
    found = (0, 1, 1, 0)
    while factor:
        found = plus(found, point) if factor % 2 else found
        point, factor = plus(point, point), factor // 2
    return found


def has_signed(key, message, signature):
    """Whether s·B = R + SHA-512(R ‖ A ‖ message)·A (RFC 8032, 5.1.7)."""
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= L:
        return False
    digest = hashlib.sha512(r + key + message).digest()
    base = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    x1, y1, z1, _ = times(s, base)
    x2, y2, z2, _ = plus(point_of(r), times(int.from_bytes(digest, "little") % L, point_of(key)))
    return (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def count(text):
    return int(must(re.fullmatch("0|[1-9][0-9]{0,14}", text), f"{text} is no number")[0])


def parse(text):
    """JSON may name a member twice, and readers would then differ over it."""

    def members(pairs):
        must(len(dict(pairs)) == len(pairs), "the JSON names a member twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=members)


def bytes_of(text):
    found = base64.b64decode(text)
    must(base64.b64encode(found).decode() == text, f"{text} is not Base64")
    return found


def path_of(text):
    lines = must(re.fullmatch(r"index (.+)((\n.{43}=){0,63})", text), "there is no path")
    return count(lines[1]), [bytes_of(line) for line in lines[2].split()]


def root_of(leaf, size, index, path):
    """The root of the tree of this size that has the leaf at this index (RFC 6962, 2.1). Its sibling begins the path."""
    if size <= 1 or not path:
        must(size == 1 and index == 0 and not path, "the path has a wrong length")
        return leaf
    left = 1 << (size - 1).bit_length() - 1
    if index < left:
        return sha256(b"\1", root_of(leaf, left, index, path[:-1]), path[-1])
    return sha256(b"\1", path[-1], root_of(leaf, size - left, index - left, path[:-1]))


def key_of(vkey):
    """The name of a key, its type (of a log 1, of a witness 4) with its 32 bytes, and its id."""
    parts = re.fullmatch(r"(.+)\+([0-9a-f]{8})\+(.{44})", vkey)
    name, key_id, encoded = must(parts, f"{vkey} is no key").groups()
    key = bytes_of(encoded)
    expected = sha256(name.encode(), b"\n", key)[:4]
    must(key[0] in (1, 4) and expected.hex() == key_id, f"{vkey} is no key of a log or a witness")
    return name, key, expected


def signer_of(vkey, text, lines, is_receipt):
    """The name and the type of a key if it has signed. Each signature by it must hold. No witness sees receipts."""
    name, key, expected = key_of(vkey)
    named = [bytes_of(line.split(" ")[2]) for line in lines if line.startswith(f"— {name} ")]
    own = [signature[4:] for signature in named if signature[:4] == expected]
    for signature in own:
        message = text.encode()
        if key[0] == 4:
            time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            message = f"cosignature/v1\ntime {time}\n".encode() + message
        must(has_signed(key[1:], message, signature), f"the signature of {name} does not hold")
    must(own or key[0] == 1 or is_receipt, f"the witness {name} has not signed the checkpoint")
    return (name, key[0]) if own else None


def verify_proof(body, proof, vkeys):
    """Prints each thing that holds, and exits with the first that does not."""
    parts = re.fullmatch(r"c2sp\.org/tlog-proof@v1\n(?:extra (.+)\n)?(.[^\0]*?)\n\n([^\0]{0,65536})", proof)
    extra, outer, note = must(parts, "this is no proof").groups()
    lines = re.fullmatch(r"((.+)\n(.+)\n(.+)\n)\n((?:— .+ .+\n)+)", note)
    text, origin, size, root, signatures = must(lines, "the checkpoint is none").groups()
    members, (index, path), log, leaf = parse(body.decode()), path_of(outer), origin, sha256(b"\0", body)
    is_forecast = "forecast_id" in members
    if extra:
        inner, statement = bytes_of(extra).split(b"\n\n")
        said = parse(statement.decode())
        name = "forecasts" if is_forecast else "forecaster" if "user_id" in members else "agent"
        tree = must(said[name], f"release {said['release']} has no tree “{name}”")
        found = base64.b64encode(root_of(leaf, tree["size"], *path_of(inner.decode())))
        must(found.decode() == tree["root"], f"these bytes are not in the tree “{name}” of release {said['release']}")
        must(index == said["release"] - 1, f"release {said['release']} is not entry {index}")
        for field in () if is_forecast else ("release", "as_of", "environment"):
            must(members[field] == said[field], f"the bytes have another {field} than the release")
        say(f"these bytes are in the tree “{name}” of release {said['release']}, among {tree['size']}")
        leaf = sha256(b"\0", statement)
    else:
        log = must(re.fullmatch(r"(.+)/receipts/[0-9a-f-]{36}", origin), f"{origin} gives no receipts")[1]
        must(is_forecast, "only forecasts have receipts")
    found = base64.b64encode(root_of(leaf, count(size), index, path)).decode()
    must(found == root, "the checkpoint has another root")
    say(f"that is entry {index} of {size} under the checkpoint of {origin}")
    known = [signer_of(vkey, text, signatures.split("\n"), not extra) for vkey in vkeys]
    for name, _ in filter(None, known):
        say(f"the checkpoint is signed by {name}")
    named = ", ".join(vkey[:-45] for vkey in vkeys)
    must((log, 1) in known, f"no known key of {log} has signed the checkpoint: known are {named}")


def say_record(kind, members):
    record_id = members.get("user_id", members.get("agent_id"))
    place = f"release {members['release']} of {members['environment']}, as of {members['as_of']}"
    say(f"it is the {kind} of {record_id}, {place}")
    award = members.get("certification", members.get("badge"))
    if award:
        say(award)


# A member that the records of one kind have, and those of no other.
MARKS = {
    "verification": "voice_rule",
    "metrics": "baseline_score",
    "rankings": "board_interval",
    "advanced-metrics": "conviction",
}
MOST_BYTES, MOST_SECONDS = 4 * 1024 * 1024, 10


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Nobody may answer but the server that is asked."""

    def redirect_request(self, *_):
        return None


def fetched(url):
    """Fetches within 10 s and 4 MiB, in a thread because the time limit of a socket begins anew with each byte."""
    found, opener = [], urllib.request.build_opener(NoRedirect)

    def ask():
        try:
            with opener.open(url, timeout=MOST_SECONDS) as answer:
                found.append(answer.read(MOST_BYTES + 1))
        except Exception as error:
            found.append(f"{url} does not answer: {error}")

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(MOST_SECONDS)
    body = must(found, f"{url} does not answer within {MOST_SECONDS} s")[0]
    must(isinstance(body, bytes), body)
    must(len(body) <= MOST_BYTES, f"{url} answers with more than {MOST_BYTES} bytes")
    return body


def assert_asked(members, mount, room, record_id, kind):
    """Proofs hold for every record, so what the record says that it is must be what the address asks for."""
    name = "agent_id" if room == "agents" else "user_id"
    must(MARKS.get(kind) in members and name in members, f"this is not the {kind} of one of the {room}")
    must(members[name] == record_id.lower(), f"this is about {members[name]}, not about {record_id}")
    environment = "sandbox" if mount.endswith("/sandbox") else "production"
    must(members["environment"] == environment, f"this is of the {members['environment']}, not of the {environment}")


def verify_record(address, vkeys):
    parts = re.fullmatch(r"([^?#]+)/(agents|forecaster)/([0-9a-fA-F-]{36})/([a-z-]+)", address)
    mount, room, record_id, kind = must(parts, f"{address} is no address of a record").groups()
    body = fetched(address)
    members = parse(body.decode())
    release = count(str(members.get("release")))
    verify_proof(body, fetched(f"{address}/proof?release={release}").decode(), vkeys)
    assert_asked(members, mount, room, record_id, kind)
    say_record(kind, members)


if __name__ == "__main__":
    must(len(sys.argv) > 2, "give the address of a record, and the public key of the log")
    try:
        verify_record(sys.argv[1], re.findall(r"[^\s,]+", " ".join(sys.argv[2:])))
    except Exception as error:
        raise SystemExit(plain(f"this is no record, or has no proof: {error!r}"))
