// Validates against the checked-in JSON Schemas, as a verifier without this code would.
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import type { SchemaName } from '../../schemas/json-schemas.ts'

export const SCHEMA_FOLDER = new URL('../../schemas/json/', import.meta.url)

const ajv = new Ajv2020({ strict: true, allErrors: true })
addFormats.default(ajv)
const compiled = new Map<SchemaName, ValidateFunction>()

export function faultsOf(name: SchemaName, value: unknown): string[] {
  let validate = compiled.get(name)
  if (!validate) {
    validate = ajv.compile(JSON.parse(readFileSync(new URL(`${name}.json`, SCHEMA_FOLDER), 'utf8')) as object)
    compiled.set(name, validate)
  }
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Fails with the violations if a value does not match its schema. */
export function expectValid(name: SchemaName, value: unknown): void {
  expect(faultsOf(name, value), name).toEqual([])
}
