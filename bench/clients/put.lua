-- wrk: sends PUTs to the targets in a file, one per line. Each thread starts at another line.
--   wrk -s put.lua URL -- TARGETS BODY_BYTES
local starts = 0
function setup(thread)
  thread:set("start", starts)
  starts = starts + 7919
end

local requests = {}
local at = 0
function init(arguments)
  wrk.method = "PUT"
  wrk.body = string.rep("x", tonumber(arguments[2]))
  for target in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format(nil, target)
  end
  at = start % #requests
end

function request()
  at = at % #requests + 1
  return requests[at]
end
