import { MemoryStore } from '../../pipeline/store/memory.ts'
import { storeContract } from '../support/store-contract.ts'

storeContract('a store in memory', () => Promise.resolve(new MemoryStore()))
