const NEW = 'svc-jupyter-new-schedule';
const EDIT = 'svc-jupyter-edit-schedule';

/** Return the identifier of the tab in which a notebook gets a schedule. */
export function newFormId(path: string): string {
  return `${NEW}:${encodeURIComponent(path)}`;
}

/** Return the identifier of the tab in which a schedule is edited. */
export function editFormId(schedule: number): string {
  return `${EDIT}:${schedule}`;
}

/** Return what opens a form anew after a reload, from the identifier of its tab. */
export function argumentsOfForm(id: string): { path: string } | { schedule: number } {
  const [kind = '', ...rest] = id.split(':');
  const subject = rest.join(':');
  return kind === EDIT ? { schedule: Number(subject) } : { path: decodeURIComponent(subject) };
}
