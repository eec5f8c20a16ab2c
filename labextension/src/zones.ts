/**
 * Today's names of the zones that Chromium lists by a former one: the former ones are links in the tz
 * database's file `backward`.
 */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk'
};

/** Return the name that a zone has today. */
export function todaysName(zone: string): string {
  return RENAMED[zone] ?? zone;
}

let own: { zone: string; offset: number } | null = null;

/** Return the reader's zone; it is read again when the clock's offset has changed. */
export function ownZone(): string {
  const offset = new Date().getTimezoneOffset();
  if (own?.offset !== offset) {
    const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
    own = { zone: todaysName(name) || 'UTC', offset };
  }
  return own.zone;
}
