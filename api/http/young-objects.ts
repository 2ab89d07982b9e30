// V8 counts where in the code the objects were made that outlive a collection of its young generation, and then makes objects of that
// place among the old ones from the start. Of a server that has hundreds of calls under way these are the objects of a call: each that is
// dead, but not yet collected among the old, keeps all that it refers to, so that whole calls outlive two collections, are copied twice
// and become old too. Which places these are differs from process to process, and with it what an answer costs (docs/decisions/0047).
import { setFlagsFromString } from 'node:v8'

/** From now on all objects of this process begin young. */
export function beginYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
