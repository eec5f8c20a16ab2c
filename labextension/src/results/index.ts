export { type IPart, ResultCalls } from './calls';
export { saveFile } from './downloading';
export { useSeen } from './hooks';
export { type ISavedRows, isUnsupported, ResultModel } from './model';
export { ResultView } from './resultView';
export type { IColumn, Row, Value } from './values';
