-- Sends the requests in a file, which NUL separates, one after another, and prints what wrk found as one JSON object.
local requests, at = {}, 0

function init(args)
  for request in io.open(args[1], 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = request end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"perSecond":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests, summary.requests * 1e6 / summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
