/** Functions of one number: of a sample's value, or, for dates, of seconds since the epoch in UTC. */

const utc = (seconds: number): Date => new Date(Math.trunc(seconds) * 1000);

function date(read: (date: Date) => number): (seconds: number) => number {
  return (seconds) => (Number.isFinite(seconds) ? read(utc(seconds)) : Number.NaN);
}

export const MATH_FUNCTIONS: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atanh: Math.atanh,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  deg: (value) => (value * 180) / Math.PI,
  exp: Math.exp,
  floor: Math.floor,
  ln: Math.log,
  log10: Math.log10,
  log2: Math.log2,
  rad: (value) => (value * Math.PI) / 180,
  sgn: Math.sign,
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
};

export const DATE_FUNCTIONS: Readonly<Record<string, (seconds: number) => number>> = {
  day_of_month: date((d) => d.getUTCDate()),
  day_of_week: date((d) => d.getUTCDay()),
  day_of_year: date((d) => Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 1)) / 86_400_000) + 1),
  days_in_month: date((d) => new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()),
  hour: date((d) => d.getUTCHours()),
  minute: date((d) => d.getUTCMinutes()),
  month: date((d) => d.getUTCMonth() + 1),
  year: date((d) => d.getUTCFullYear()),
};
