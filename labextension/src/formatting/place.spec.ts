import { placeOf } from './place';

it.each([
  ['select 1,2', 0, 'select 1, 2', 0],
  ['select 1,2', 9, 'select 1, 2', 9],
  ['select 1,2', 10, 'select 1, 2', 11],
  ['select 1,\n\n  2', 9, 'select 1, 2', 9],
  ['%%svc_db\nselect a', 17, '%%svc_db\nselect\n    a', 21],
  ['a', 1, '', 0]
])('the cursor in %j at %i is in %j at %i', (before, at, after, place) => {
  expect(placeOf(before, at, after)).toBe(place);
});
