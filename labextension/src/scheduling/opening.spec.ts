import { type IOpening, rehearseOpening } from './opening';
import { rehearseForm } from './rehearsal';

jest.mock('./notebookSource', () => ({}));
jest.mock('./rehearsal', () => ({ rehearseForm: jest.fn() }));

describe('rehearseOpening', () => {
  const openingWith = (forms: number): IOpening =>
    ({ app: {}, tracker: { size: forms } }) as unknown as IOpening;

  it('is done where no form was opened yet, and only there', () => {
    rehearseOpening(openingWith(1));
    expect(rehearseForm).not.toHaveBeenCalled();
    rehearseOpening(openingWith(0));
    expect(rehearseForm).toHaveBeenCalledTimes(1);
  });
});
