export { ResultCalls } from './calls';
export { isUnsupported, ResultModel } from './model';
export { ResultView } from './resultView';
