const NEW = 'svc-jupyter-new-schedule';
const EDIT = 'svc-jupyter-edit-schedule';

/** Return the id of the tab for a new schedule of a notebook. */
export function newFormId(path: string): string {
  return `${NEW}:${encodeURIComponent(path)}`;
}

/** Return the id of the tab that edits a schedule. */
export function editFormId(schedule: number): string {
  return `${EDIT}:${schedule}`;
}

/** Return the arguments that reopen a form after a reload, from the id of its tab. */
export function argumentsOfForm(id: string): { path: string } | { schedule: number } {
  const [kind = '', ...rest] = id.split(':');
  const subject = rest.join(':');
  return kind === EDIT ? { schedule: Number(subject) } : { path: decodeURIComponent(subject) };
}
