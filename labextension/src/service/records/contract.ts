import type { components } from '../openapi';

/**
 * The records of the service's API, by their names there. `python -m scripts.make_lab_sources` generates their types.
 */
export type Schemas = components['schemas'];

/** A record whose fields `Key`, optional in the contract, are always present: every service sends them. */
export type Sent<Record, Key extends keyof Record> = Omit<Record, Key> &
  Required<Pick<Record, Key>>;

/** A record with the types `Fields` for fields that the contract leaves open. */
export type With<Record, Fields> = Omit<Record, keyof Fields> & Fields;

/** The paging of a list; page numbers count from 1. */
export type IPagingInfo = Sent<Schemas['PagingInfo'], 'next_page' | 'previous_page'>;
