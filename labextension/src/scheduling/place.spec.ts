import { placeOf } from './place';

describe('the place of the form', () => {
  const notebook = (offsetWidth: number, isVisible = true): Parameters<typeof placeOf>[0] => ({
    id: 'n',
    isVisible,
    node: Object.defineProperty(document.createElement('div'), 'offsetWidth', {
      value: offsetWidth
    })
  });

  it('is beside a notebook where both have 400 pixels', () => {
    expect(placeOf(notebook(800))).toEqual({ mode: 'split-right', ref: 'n', activate: false });
  });

  it('is a tab after a notebook that is narrower', () => {
    expect(placeOf(notebook(799))).toEqual({ mode: 'tab-after', ref: 'n' });
  });

  it('is where Lab opens tabs if the notebook is not visible', () => {
    expect(placeOf(notebook(800, false))).toEqual({});
    expect(placeOf(undefined)).toEqual({});
  });
});
