// Loaded before a program (`node --import`): when it exits, writes what it used to descriptor 3, as JSON.
import { writeSync } from 'node:fs'

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeSync(3, JSON.stringify({ cpuS: (userCPUTime + systemCPUTime) / 1e6, mib: maxRSS / 1024 }))
})
