// Validates against the JSON Schemas that the service serves, as a verifier without this code would.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { type SchemaName, schemaTexts } from '../../schemas/json-schemas.ts'

// A part of `anyOf` may require a member that the whole defines.
const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true })
addFormats.default(ajv)
const texts = schemaTexts()
const compiled = new Map<SchemaName, ValidateFunction>()

export function faultsOf(name: SchemaName, value: unknown): string[] {
  let validate = compiled.get(name)
  if (!validate) {
    validate = ajv.compile(JSON.parse(texts.get(name)!) as object)
    compiled.set(name, validate)
  }
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Fails with the violations if a value does not match its schema. */
export function expectValid(name: SchemaName, value: unknown): void {
  expect(faultsOf(name, value), name).toEqual([])
}
