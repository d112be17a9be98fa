"""Columns as public data sets have them: name, kind of values, and the role and ground they should get."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Maker = Callable[[Random, int], object]

FIRST = ("ana", "ben", "cleo", "dan", "eve", "finn", "gul", "hassan", "ines", "jorg", "mary", "john", "olga")
SYLLABLES = ("ba", "ro", "mi", "ten", "kas", "lu", "vor", "den", "shi", "pel", "gra", "no")


def word(random: Random, number: int = 4) -> str:
    """Return a capitalised word that means nothing."""
    return "".join(random.choices(SYLLABLES, k=number)).capitalize()


KINDS: dict[str, Maker] = {
    "yes/no": lambda r, n: r.choice(("yes", "no")),
    "0/1": lambda r, n: r.randrange(2),
    "1-5": lambda r, n: r.randrange(1, 6),
    "codes": lambda r, n: r.randrange(1, 12),
    "counts": lambda r, n: int(r.expovariate(0.2)),
    "many codes": lambda r, n: r.randrange(100, 190),
    "ages": lambda r, n: r.randrange(18, 90),
    "years": lambda r, n: r.randrange(1984, 1990),
    "birth years": lambda r, n: r.randrange(1930, 2000),
    "measures": lambda r, n: round(r.gauss(50, 12), 1),
    "exact": lambda r, n: round(r.lognormvariate(3, 1), 6),
    "amounts": lambda r, n: 50 * r.randrange(10, 900),
    "words": lambda r, n: r.choice(("Alpha", "Bravo", "Carbon", "Delta", "Ember")),
    "places": lambda r, n: word(Random(r.randrange(60))),
    "surnames": lambda r, n: word(Random(r.randrange(400)), 3),
    "given": lambda r, n: r.choice(FIRST),
    "icd": lambda r, n: f"{r.choice('CEIJ')}{r.randrange(10, 99)}",
    "postcodes": lambda r, n: f"{r.randrange(10000, 10120)}",
    "numbers of records": lambda r, n: 10_000 + n,
    "numbers of persons": lambda r, n: 125_000 + 173 * (n // 3),
    "numbers of homes": lambda r, n: 1_000 + 7 * (n // 4),
    "case texts": lambda r, n: f"{n % 17:02d}{number_of(n):06d}CF10A",
    "dates": lambda r, n: f"20{r.randrange(10, 16)}-{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}",
    "births": lambda r, n: f"19{r.randrange(40, 99)}-{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}",
    "weights": lambda r, n: round(900 + r.expovariate(0.0001), 2),
    "normal weights": lambda r, n: round(0.2 + r.expovariate(1.25), 4),
    "kilograms": lambda r, n: round(r.gauss(75, 14), 1),
    "remarks": lambda r, n: " ".join(word(r, 2) for _ in range(9)),
}


def number_of(record: int) -> int:
    """Return a number of six digits, another one for each record."""
    return 100_000 + record * 7


IDENTIFIER, OUTSIDE, FEW, WEIGHT, KEY = (
    "identifier",
    "known outside",
    "known to few",
    "survey weight",
    "key of a person or household",
)
SHORT = {
    "id": ("identifier", IDENTIFIER),
    "key": ("identifier", KEY),
    "qi": ("quasi-identifier", OUTSIDE),
    "sens": ("sensitive", FEW),
    "few": ("insensitive", FEW),
    "wgt": ("weight", WEIGHT),
}

_COLUMNS = """
# COMPAS
first|given|id
last|surnames|id
name|surnames|id
last|codes|few
sex|words|qi
dob|births|id
age|ages|qi
age_cat|words|qi
race|words|qi
juv_fel_count|counts|sens
decile_score|codes|sens
priors_count|counts|sens
c_jail_in|dates|qi
c_case_number|case texts|id
c_days_from_compas|counts|few
c_charge_degree|words|sens
c_charge_desc|places|sens
is_recid|0/1|sens
two_year_recid|0/1|sens
score_text|words|sens
# NHANES
SEQN|numbers of records|id
ID|numbers of persons|key
Gender|words|qi
AgeDecade|words|qi
Race1|words|qi
Education|words|qi
MaritalStatus|words|qi
HHIncome|words|sens
Poverty|measures|sens
HomeRooms|counts|few
HomeOwn|words|qi
Weight|kilograms|few
Height|measures|qi
BMI|measures|sens
Pulse|counts|few
BPSysAve|many codes|few
Testosterone|exact|few
UrineFlow1|exact|few
DirectChol|measures|few
Diabetes|yes/no|sens
DiabetesAge|ages|sens
HealthGen|words|sens
SmokeNow|yes/no|sens
AlcoholYear|counts|sens
Marijuana|yes/no|sens
SexAge|counts|sens
SexNumPartnLife|counts|sens
SexOrientation|words|sens
PregnantNow|yes/no|sens
SleepHrsNight|codes|few
TVHrsDay|words|few
RIDAGEYR|ages|qi
RIAGENDR|0/1|qi
DMDMARTL|codes|qi
DMDEDUC2|codes|qi
WTMEC2YR|weights|wgt
WTINT2YR|weights|wgt
SDMVPSU|0/1|qi
INDHHIN2|codes|sens
# randhie, rwm5yr, flchain, lung and other clinical files
zper|numbers of persons|key
site|codes|qi
hlthg|0/1|sens
disea|measures|sens
xage|ages|qi
female|0/1|qi
black|0/1|qi
drugdol|exact|sens
docvis|counts|sens
hospvis|counts|sens
edlevel|1-5|qi
outwork|0/1|qi
married|0/1|qi
kids|0/1|qi
hhninc|exact|sens
educ|measures|qi
sample.yr|years|qi
kappa|exact|few
creatinine|measures|few
futime|many codes|sens
death|0/1|sens
status|0/1|sens
outcome|words|sens
date_onset|dates|qi
date_of_hospitalisation|dates|qi
hospital|places|qi
cause_of_death|words|sens
date_report|dates|qi
health_region|places|qi
province|places|qi
diagnosis|icd|sens
subject|numbers of persons|key
patient|numbers of persons|key
patient_id|numbers of records|id
participant_id|numbers of persons|key
treatment|words|sens
los|counts|few
admission_type|words|few
discharge_date|dates|qi
insurance|words|few
ward|places|qi
# Student, bank, Adult, census income
school|words|qi
address|words|qi
famsize|words|qi
Medu|1-5|qi
Fjob|words|qi
guardian|words|qi
studytime|1-5|few
failures|1-5|sens
absences|counts|few
Dalc|1-5|sens
G1|counts|sens
G3|counts|sens
exam_score|measures|sens
test_result|words|sens
final_grade|words|sens
highest grade completed|codes|qi
job|words|qi
marital|words|qi
default|yes/no|sens
balance|amounts|sens
loan|yes/no|sens
duration|many codes|few
poutcome|words|sens
fnlwgt|weights|wgt
capital-gain|amounts|sens
workclass|words|qi
relationship|words|qi
native-country|places|qi
hours-per-week|counts|qi
instance weight|weights|wgt
wage per hour|amounts|sens
dividends from stocks|amounts|sens
member of labor union|words|sens
state of previous residence|places|qi
major industry code|codes|qi
own business or self employed|0/1|qi
# German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Turkish
vorname|given|id
nachname|surnames|id
geburtsdatum|births|id
Geschlecht|words|qi
Alter|ages|qi
PLZ|postcodes|qi
Ort|places|qi
Bundesland|places|qi
Beruf|places|qi
Einkommen|amounts|sens
Nettolohn|amounts|sens
Diagnose|icd|sens
Familienstand|words|qi
Staatsangehörigkeit|places|qi
Hochrechnungsfaktor|weights|wgt
Schulabschluss|words|qi
Konfession|words|sens
nom|surnames|id
prénom|given|id
sexe|0/1|qi
âge|ages|qi
commune|places|qi
département|codes|qi
csp|codes|qi
situation familiale|words|qi
revenu|amounts|sens
salaire|amounts|sens
maladie|words|sens
poids_sondage|weights|wgt
ponderation|normal weights|wgt
sujet|numbers of records|id
date_naissance|births|id
apellido|surnames|id
nombre|given|id
sexo|words|qi
edad|ages|qi
provincia|places|qi
municipio|places|qi
nacionalidad|places|qi
estado_civil|words|qi
ingresos|amounts|sens
enfermedad|words|sens
factor_expansion|weights|wgt
cognome|surnames|id
età|ages|qi
comune|places|qi
reddito|amounts|sens
titolo_di_studio|words|qi
sobrenome|surnames|id
idade|ages|qi
renda|amounts|sens
achternaam|surnames|id
leeftijd|ages|qi
gemeente|places|qi
inkomen|amounts|sens
nazwisko|surnames|id
wiek|ages|qi
województwo|places|qi
dochód|amounts|sens
efternamn|surnames|id
kön|words|qi
ålder|ages|qi
ägarålder|ages|qi
agarald|ages|qi
eintrittsalter|ages|qi
ponderación|weights|wgt
PONDERA|weights|wgt
pondih|weights|wgt
ponderação|weights|wgt
ponderazione|weights|wgt
parentesco|codes|qi
lien_de_parenté|codes|qi
Verwandtschaft|codes|qi
parentela|codes|qi
verwantschap|codes|qi
pokrewieństwo|codes|qi
släktskap|codes|qi
hsize|1-5|qi
cobertura médica|codes|sens
plano de saúde|0/1|sens
ESTADO|1-5|qi
kommun|places|qi
inkomst|amounts|sens
soyadı|surnames|id
yaş|ages|qi
cinsiyet|words|qi
gelir|amounts|sens
# DHS, ESS, GSS, SOEP, hospital episodes, panels, questionnaires
caseid|numbers of records|id
v005|weights|wgt
v012|ages|qi
v024|codes|qi
v025|0/1|qi
v106|codes|qi
v190|1-5|sens
hv001|many codes|qi
idno|numbers of records|id
gndr|0/1|qi
agea|ages|qi
cntry|places|qi
eduyrs|counts|qi
hinctnta|codes|sens
pspwght|normal weights|wgt
dweight|normal weights|wgt
anweight|normal weights|wgt
rlgdgr|codes|sens
lrscale|codes|sens
happy|codes|few
trstplt|codes|few
prtvte|codes|sens
partyid|codes|sens
polviews|codes|sens
wtssall|normal weights|wgt
wrkstat|codes|qi
childs|codes|qi
rincome|codes|sens
sibs|codes|qi
pid|numbers of persons|key
hid|numbers of homes|key
hhid|numbers of homes|key
household_id|numbers of homes|key
gebjahr|birth years|qi
yob|birth years|qi
bula|codes|qi
jkw_12|weights|wgt
finalwgt|weights|wgt
repwgt5|weights|wgt
admidate|dates|qi
epikey|numbers of records|id
diag_01|icd|sens
opertn_01|icd|sens
ethnos|words|qi
procode|places|qi
lsoa11|places|qi
q17|1-5|few
item_03|codes|few
answer_9|yes/no|few
frage12|1-5|few
anxious|0/1|few
satisfaction|1-5|few
remarks|remarks|id
comments|remarks|id
colour|places|qi
"""


def cases() -> list[tuple[str, str, str, str]]:
    """Return name, kind of values, role and ground of each column."""
    lines = [line for line in _COLUMNS.splitlines() if line and not line.startswith("#")]
    split = [line.split("|") for line in lines]
    return [(name, kind, *SHORT[expected]) for name, kind, expected in split]


def values(kind: str, records: int = 900) -> list[object]:
    """Return the values of a column; the same in every test."""
    random = Random(11)
    return [KINDS[kind](random, number) for number in range(records)]
