import { panelMemory, placeOf } from './model';

describe('placeOf', () => {
  const sorted = [
    { id: 'commands', rank: 10 },
    { id: 'schedules', rank: 20 },
    { id: 'clusters', rank: 30 }
  ];

  it.each([
    [5, 0],
    [15, 1],
    [20, 2],
    [99, 3]
  ])('puts rank %d at %d', (rank, place) => {
    expect(placeOf({ id: 'new', rank }, sorted)).toBe(place);
  });
});

describe('panelMemory', () => {
  it('returns the sections that were closed', () => {
    expect(panelMemory({ collapsed: ['clusters'] })).toEqual({ collapsed: ['clusters'] });
  });

  it.each([undefined, null, 7, 'x', {}, { collapsed: 'clusters' }, { collapsed: [7] }])(
    'takes %j for nothing',
    kept => {
      expect(panelMemory(kept)).toEqual({ collapsed: [] });
    }
  );
});
