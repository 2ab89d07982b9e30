"""Prints the settings of the session of the job, as JSON, given an environment and what spark-submit was told."""

import importlib.util
import json
import sys

job, environment, told = sys.argv[1:]
spec = importlib.util.spec_from_file_location("release", job)
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

print(json.dumps(release.session_settings(json.loads(environment), json.loads(told), "/tmp/job")))
