// Checks the releases that the public log commits to, one after another: the files, the new table data and
// the new forecasts of each.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Environment } from '../../schemas/values.ts'
import { canonicalText } from '../proof/canonical.ts'
import { manifestPath } from '../store/paths.ts'
import { textOfImport } from '../tables/import-id.ts'
import { checkErasedStay } from './erased-check.ts'
import { runsOf } from './findings.ts'
import { type Earlier, ForecastChecks } from './forecasts.ts'
import { checkLoggedSnapshot, checkReleaseFiles } from './release-files.ts'
import { TableChecks, type TablesContext } from './tables.ts'

export class ReleaseChecks {
  readonly #context: TablesContext
  readonly #tables: TableChecks
  readonly #forecasts: ForecastChecks
  /** The release before; undefined if it cannot be read, or if there is none. */
  #before: ReleaseManifest | undefined
  #latest: Earlier['latest']
  #environment: Environment | undefined
  readonly #thinned: number[] = []
  readonly #unchecked: number[] = []

  private constructor(context: TablesContext, forecasts: ForecastChecks) {
    this.#context = context
    this.#tables = new TableChecks(context)
    this.#forecasts = forecasts
  }

  static async begin(context: TablesContext): Promise<ReleaseChecks> {
    return new ReleaseChecks(context, await ForecastChecks.begin(context))
  }

  /** @param manifest undefined if it cannot be read. */
  async check(release: number, manifest: ReleaseManifest | undefined, isLast: boolean): Promise<void> {
    const { store, findings } = this.#context
    const before = this.#before
    this.#before = manifest
    if (!manifest) return
    this.#checkPlace(release, manifest)
    this.#checkLeftOut(manifest, before)
    if ((await checkReleaseFiles(store, findings, manifest)) > 0) this.#thinned.push(release)
    await checkLoggedSnapshot(store, findings, manifest, isLast)
    // The new data of a release follows from the release before it.
    if (release > 1 && !before) this.#unchecked.push(release)
    else await this.#checkData(manifest, { before, latest: this.#latest })
    const asOf = new Date(manifest.as_of)
    if (!this.#latest || asOf > this.#latest.asOf) this.#latest = { release, asOf }
  }

  async #checkData(manifest: ReleaseManifest, earlier: Earlier): Promise<void> {
    const versions = await this.#tables.versionsOf(manifest)
    const isWhole = versions && (await this.#tables.check(manifest, versions, earlier.before))
    if (versions && isWhole) await this.#forecasts.check(manifest, versions.forecasts, earlier)
    else this.#unchecked.push(manifest.release)
  }

  /**
   * Checks a manifest's release number, environment and `as_of` against its place and the releases before it.
   */
  #checkPlace(number: number, { release, as_of, environment }: ReleaseManifest): void {
    const { findings } = this.#context
    this.#environment ??= environment
    if (release !== number || environment !== this.#environment) {
      findings.fault(
        manifestPath(number),
        `is of release ${release} of ${environment}; expected ${number} of ${this.#environment}`,
      )
    }
    if (!this.#latest || new Date(as_of) >= this.#latest.asOf) return
    const { asOf, release: earlier } = this.#latest
    findings.fault(
      manifestPath(number),
      `is as of ${as_of}; expected ${asOf.toISOString()} or later, which release ${earlier} is of`,
    )
  }

  /** An import that is undone stays so, and a person who is erased, each with its reason. */
  #checkLeftOut(manifest: ReleaseManifest, before: ReleaseManifest | undefined): void {
    const { release, undone_imports = [] } = manifest
    checkErasedStay(this.#context.findings, manifest, before)
    const stillUndone = new Set(undone_imports.map(canonicalText))
    for (const undone of before?.undone_imports ?? []) {
      if (stillUndone.has(canonicalText(undone))) continue
      this.#context.findings.fault(
        manifestPath(release),
        `does not say that ${textOfImport(undone)} is undone, as release ${release - 1} does`,
      )
    }
  }

  /** Makes the checks that need all releases, and notes which checks were left out. */
  async finish(): Promise<void> {
    const { notes, counts } = this.#context.findings
    await this.#forecasts.finish()
    if (this.#thinned.length > 0) {
      notes.push(
        `releases ${runsOf(this.#thinned)} are thinned: ${counts.files_unchecked} of their files are gone, and the roots of the shards among them were not checked`,
      )
    }
    if (this.#unchecked.length > 0) {
      notes.push(
        `the data of releases ${runsOf(this.#unchecked)} was not checked to its end, since something that it follows from is damaged`,
      )
    }
  }
}
