import { type ICommandFilter, NO_FILTER } from './model';

/** What is kept of the section between two visits. */
export interface ICommandsMemory {
  filter: ICommandFilter;
  /** Key of the selected command. */
  selected: string | null;
}

const STATUSES = ['', 'waiting', 'running', 'done', 'error', 'cancelled'];

/** Return what was kept, as far as it can be understood. */
export function memoryOf(kept: unknown): ICommandsMemory {
  const { filter, selected } = fields(kept);
  const { allUsers, status, name } = fields(filter);
  return {
    filter: {
      allUsers: allUsers === true,
      status: STATUSES.includes(status as string)
        ? (status as ICommandFilter['status'])
        : NO_FILTER.status,
      name: typeof name === 'string' ? name : NO_FILTER.name
    },
    selected: typeof selected === 'string' ? selected : null
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
