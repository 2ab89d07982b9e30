# Compares every file of the last release in a folder with the hash in its manifest (docs/verifying.md).
import hashlib, json, os, pathlib

data = pathlib.Path(os.environ["DATA"])
release = sorted(data.glob("releases/*/manifest.json"))[-1].parent
for file in json.loads((release / "manifest.json").read_bytes())["files"]:
    found = hashlib.sha256((release / file["path"]).read_bytes()).hexdigest()
    if found != file["sha256"]:
        raise SystemExit(f"{file['path']} is not what the manifest says")
    print(file["rows"], "rows", file["path"])
