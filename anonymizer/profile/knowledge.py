"""What the name of a column says: its subject, and from that who could know its values.

One table in ten languages. Subjects come in order, and the first whose words are in a name decides: a place
named after health is a place, and the income of a household is an income.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

from anonymizer.model.table import Role

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_NOT_DECOMPOSED = str.maketrans(
    {
        **{"ø": "o", "ł": "l", "ı": "i", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss"},
        **{"Ø": "O", "Ł": "L", "Đ": "D", "Æ": "AE", "Œ": "OE"},
    }
)


class Ground(StrEnum):
    """Who could know the values of a column, or what they are for."""

    IDENTIFIER = "identifier"
    OUTSIDE = "known outside"
    FEW = "known to few"
    WEIGHT = "survey weight"
    KEY = "key of a person or household"


LONG_ENOUGH = 6
"""Minimum length of several words written as one that are found inside of others."""


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case and without accents.

    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("HTTPCode2"), words_of("Prénom")
    (('date', 'of', 'birth'), ('marital', 'status'), ('http', 'code', '2'), ('prenom',))
    """
    return tuple(part.casefold() for part in _PARTS.findall(_without_accents(name)))


def _without_accents(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.translate(_NOT_DECOMPOSED))
    return "".join(each for each in decomposed if not unicodedata.combining(each))


@dataclass(frozen=True)
class Words:
    """Words that names of columns are searched for.

    Attributes
    ----------
    terms: separated by commas. A term fits whole words of a name; with ``*`` at an end also the beginning or
        end of a longer word, with ``=`` only the whole name, with ``$`` only its end. Several words also fit
        when they are written as one. ``#`` is a number. Accents do not count.
    """

    terms: str

    def fit(self, name: str) -> bool:
        """Return whether a name has one of the terms.

        >>> Words("age, diagnos*, *hispanic*, =last, date of birth").fit("patient_age")
        True
        >>> [Words("age, =last, date of birth").fit(name) for name in ("page", "last_visit", "DateofBirth")]
        [False, False, True]
        """
        words = words_of(name)
        spaced = f" {' '.join(words)} "
        text = f"{spaced}|{''.join(words)}|"
        anywhere, within, patterns = self._parts
        return (
            any(part in text for part in anywhere)
            or any(part in spaced for part in within)
            or any(pattern.search(text) for pattern in patterns)
        )

    @cached_property
    def _parts(self) -> tuple[list[str], list[str], list[re.Pattern[str]]]:
        """Texts to find in `` words of a name |wordsofaname|``, texts to find before the ``|``, and patterns.

        Only numbers need patterns, which take long to compile.
        """
        anywhere: list[str] = []
        within: list[str] = []
        patterns = []
        for term in filter(None, map(str.strip, self.terms.split(","))):
            for part, inside in _parts(" ".join(term.split())):
                if "#" in part:
                    end = r"(?=[^|]*\|[^|]*\|)" if inside else ""
                    patterns.append(re.compile(f"{_pattern(part)}{end}"))
                else:
                    (within if inside else anywhere).append(part)
        return anywhere, within, patterns


def _pattern(part: str) -> str:
    return re.escape(part).replace(r"\#", r"\d+")


def _parts(term: str) -> list[tuple[str, bool]]:
    """Return texts to find in `` words of a name |wordsofaname|``, and whether only before the ``|``."""
    bare = _without_accents(term.strip("=$*")).casefold()
    joined = bare.replace(" ", "")
    if term.startswith("="):
        return [(f"|{joined}|", False)]
    if term.endswith("$"):
        return [(f" {bare} |", False)]
    left, right = ("" if term.startswith("*") else " "), ("" if term.endswith("*") else " ")
    found = [(f"{left}{bare}{right}", not left and not right)]
    if " " in bare:
        # Few letters in a row are also parts of other words: "hba" is in "math background".
        ends = [""] if len(_pattern(joined)) >= LONG_ENOUGH else [" ", "|"]
        found += [(f"{before}{joined}{after}", False) for before in ends for after in ends]
    return found


@dataclass(frozen=True)
class Subject:
    """What columns with some words in their name are about.

    Attributes
    ----------
    what: the subject, as in "name suggests a place".
    ground: who could know such values.
    role: that a column gets.
    words: by language.
    others: words of names that mean something else all the same.
    """

    what: str
    ground: Ground
    role: Role
    words: Mapping[str, str] = field(hash=False)
    others: Words | None = None

    def named(self, name: str) -> bool:
        """Return whether the name of a column has a word of the subject."""
        return self._words.fit(name) and not (self.others is not None and self.others.fit(name))

    @cached_property
    def _words(self) -> Words:
        return Words(", ".join(self.words.values()))


SURVEY_WEIGHT = Subject(
    "a survey weight",
    Ground.WEIGHT,
    Role.WEIGHT,
    {
        "en": "perweight*, hhweight*, "
        "bsrw*, bootwt*, bsw*, repw*, "
        "sample weight, hh weight, svywt, weight final, final wt, base weight, pop weight, "
        "population weight, frequency weight, freqweight, weight var, poststrat*, raking weight, "
        "calibrated weight, sampling weight, survey weight, final weight, finalwgt, fnlwgt, "
        "instance weight, person weight, design weight, analysis weight, post stratification weight, "
        "replicate weight, household weight, expansion factor, inflation factor, *wgt, wgt*, *wght, "
        "pweight, dweight, anweight, hweight, iweight, sampweight, wtss*, wtmec*, wtint*, wtdr*, "
        "perwt, hhwt, asecwt, pwt, repwt*, repwgt*, jkw, brr, fpc, v 005, hv 005, mv 005, d 005, "
        "weighting, wt final, weightvar, survwt, pwgtp, wgtp",
        "de": "hochrechnungsfaktor, hochrechnung, gewichtungsfaktor, gewichtung, erhebungsgewicht, hrf, "
        "phrf, hhrf",
        "fr": "ponderation*, poids sondage, poids final, coef redressement, coefficient ponderation, "
        "pondqualij",
        "es": "factor expansion, factor de expansion, fac expansion, fexp*, facexp, ponderador*, factorel, "
        "ponderacion, pondera, pondih, pondii, pondiio",
        "it": "peso campionario, peso finale, coefficiente di riporto, pesofit, ponderazione",
        "pt": "fator expansao, fator de expansao, peso amostral, ponderador*, ponderacao",
        "nl": "weegfactor, ophooggewicht, eindgewicht",
        "pl": "waga",
        "sv": "kalibreringsvikt, designvikt, uppraknings*",
        "tr": "agirlik, faktor",
    },
    Words("=wgt, *bwght, bwght*, birth*"),
)
BARE_WEIGHT = Words(
    "weight, weights, *weight, wt, *wt, wt*, gewicht, *gewicht, gew, poids, peso, pesos, =w, vikt, =wgt"
)
"""Names of survey weights and of the weights of bodies; the numbers tell which."""

GIVEN_AND_FAMILY_NAMES = Words(
    "first name, last name, =first, =last, =middle, =given, =fname, =lname, surname*, forename*, fullname, "
    "full name, given name, family name, middle name, maiden name, patient name, spouse name, next of kin, "
    "nickname, vorname*, nachname*, familienname*, geburtsname, zuname, prenom*, nom de famille, "
    "nom usage, nom naissance, apellido*, primer nombre, cognome, sobrenome, apelido, primeiro nome, "
    "nome proprio, voornaam, achternaam, roepnaam, tussenvoegsel, imie, imiona, nazwisko, fornamn, "
    "efternamn, fornavn, etternavn, efternavn, soyad, soyadi, soyisim, =ad, =adi, ad soyad, isim"
)
"""Words that only names of people have, in ten languages."""

NAMES = Words(
    "name, names, nom, noms, nombre, nome, nomi, navn, namn, naam, contact, doctor, physician, arzt, medecin"
)
"""Words for names, of people or of others."""

NAMES_OF_OTHERS = Words(
    "country, city, state, region, company, hospital, clinic, ward, practice, agency, bank, "
    "school, product, file, brand, drug, disease, "
    "department, province, county, variable, course, sector, street, species, team, item, event, test, "
    "category"
)

BIRTH = Words(
    "birth, birthday, birthdate, bdate, dob, "
    "born, bday, date of birth, geb, geburt, geburtstag, geburtsdatum, "
    "geboren, naissance, nacimiento, fecha nac, nascita, geboorte*, nascimento, urodzenia, fodelse*, "
    "dogum*"
)

SEX = Words(
    "sex, isex, *gender, gndr, gendr, geschlecht, sexe, genre, sexo, genero, sesso, geslacht, plec, =kon, "
    "cinsiyet"
)
"""Words for the sex of a person, who keeps it while the members of a household differ."""

_NUMBERED_PEOPLE = (
    *(
        "patient",
        "person",
        "subject",
        "participant",
        "respondent",
        "customer",
        "client",
        "member",
        "employee",
    ),
    *("user", "student", "pupil", "insured", "citizen", "taxpayer", "resident", "pat", "pers", "cust"),
)
_NUMBERS = ("no", "nr", "num", "number", "nbr", "code", "key", "ref")

PERSON_KEYS = Words(
    ", ".join(f"{people} {number}$, ={people}{number}" for people in _NUMBERED_PEOPLE for number in _NUMBERS)
    + ", patientennummer, versichertennummer, kundennummer, mitgliedsnummer, personalnummer, "
    "numero patient$, num patient$, numero client$, num client$, numero paciente$, "
    "infector$, infectee$, subject$, subj$, patient$, person$, participant$, respondent$, proband$, "
    "proband*, zper, customer$, client$, =id, =pid, =pidp, =idno, =idind, =mergeid, =subjid, =usubjid, "
    "=seqn, =caseid, =member, =employee, =user, persnr, personid, patientid, subjectid, sujet$, patiente$, "
    "versicherter$, paciente$, paziente$, deelnemer$, pacjent$, hasta$, kisi$, animal$, person id, "
    "patient id, subject id, participant id, respondent id, customer id, client id, member id, "
    "employee id, user id, student id, pupil id, insured id"
)
"""Names of columns that number persons."""

NUMBERED_PEOPLE = Words(", ".join(_NUMBERED_PEOPLE))
"""Words for persons that records are about."""

SERVING = Words(
    "doctor, physician, gp, practitioner, provider, nurse, therapist, surgeon, teacher, interviewer, "
    "supervisor, manager, employer, seller, agent, arzt, medecin, medico, lehrer"
)
"""Words for people who serve those that records are about, such as ``family_doctor_id``."""

HOUSEHOLD_KEYS = Words(
    ", ".join(
        f"{home} {number}$" for home in ("household", "hh", "family", "dwelling") for number in _NUMBERS
    )
    + ", hid$, hhid$, =hh, =hhnr, hh id, household id, household$, household head id, family id, famid, "
    "=hidp, home id, dwelling id, idhog, idhogar, idmen, menage$, haushalt$, haushaltsnummer, haushalt id, "
    "hogar$, huishouden$, =family, famnr$, dwelling$, =familie, familien id, familiennummer, =famille, "
    "=familia, =famiglia, codusu"
)
"""Names of numbers of people who live together."""

HOMES = Words(
    f"{HOUSEHOLD_KEYS.terms}, =address, address id, home address$, postal address$, street address$, "
    "family$, familie$, famille$, familia$, famiglia$, adresse$"
)
"""Names of keys of people who live together."""

ORGANISATIONS = Words(
    "school, class, company, firm, hospital, clinic, ward, department, product, course, item, country, "
    "city, state, region, district, county, province, station, site, center, centre, group, cluster, team, "
    "party, store, shop, psu, stratum, segment, carrier, vehicle, drug, category, type, area, zone, "
    "village, community"
)
"""Words that make a number one of others than persons, such as ``school_id``."""

PLACE = Subject(
    "a place",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "provider*, prov num, provnum, "
        "reg #, xnorcsiz, *norcsiz, "
        "geography, geographic, beat, police district, lives, popul, population, logpopul, town size, "
        "city size, "
        "south, north, east, west, northcen, northeast, midwest, smsa, metropolitan, nonmetro, "
        "villnum, vill, locale, lives in, wohngebiet, st_case, citypop, landkreise, precinct, "
        "constituency, tract code, embarked, cabin, commuting zone, homeland, region of birth, "
        "unit id, inst, institution, practice, gp practice, trust, city, cities, town, township, "
        "village, county, counties, region*, province*, district*, state, states, statenum, "
        "istatenum, statefip, *statefips, fips, urban*, rural*, urbrur, zip, zipcode, *postcode*, "
        "postal, post code, residence, municipality, municipal, canton, parish, borough, suburb, "
        "neighbourhood*, neighborhood*, prefecture, governorate, territory, metro, metarea, msa, "
        "cbsa, puma, tract, block group, lsoa*, msoa*, nuts, icb, ccg, hospital, hospitals, clinic, "
        "ward, wards, site, centre, center, facility, address, place, places, location, locality, "
        "area, zone, community, destination, dest, origin, psu, *mvpsu, *mvstra, strata, stratum, "
        "sampling unit, cluster, hv 001, v 001, v 024, v 025, hv 024, hv 025, hv 026, procode*, "
        "health region, health district, health board, birthplace, school name, station, country, "
        "countries, cntry*, nation, world region, continent",
        "de": "wohnregion, *region, *gebiet, herkunftsland, geburtsland, gemeindegroesse, ortsgroesse, "
        "*kreis, stadt land, ost west, ostwest, west ost, stadt, ort, orte, wohnort, geburtsort, "
        "gemeinde*, landkreis, kreis, bundesland, bula, =land, plz, postleitzahl, bezirk, stadtteil, "
        "regierungsbezirk, gebiet, klinik, krankenhaus, standort, adresse",
        "fr": "region naissance, pays naissance, lieu naissance, departement naissance, taille commune, "
        "canton, zone urbaine, tranche commune, ville, commune*, departement*, dept, code postal, "
        "=cp, quartier, arrondissement, pays, lieu, hopital, etablissement, academie, zone, iris",
        "es": "ciudad, municipio*, provincia*, comunidad, departamento, codigo postal, barrio, localidad, "
        "pais, comuna, estado, ccaa, lugar, distrito, centro",
        "it": "citta, comune, provincia, regione*, =cap, paese, quartiere, luogo, ospedale, ripartizione",
        "pt": "uf$, codmun*, cod mun*, mun res, munres*, cidade, municipio*, concelho, distrito, "
        "freguesia, regiao, bairro, cep, =uf, localidade, hospital",
        "nl": "stad, gemeente, provincie, woonplaats, plaats, wijk, buurt, regio, ziekenhuis, =land",
        "pl": "miasto, miejscowosc, wojewodztwo, powiat, gmina, kod pocztowy, kraj, dzielnica, szpital",
        "sv": "stad, kommun*, =lan, ort, postnummer, landskap, region, bostadsort, sjukhus",
        "tr": "sehir, =il, ilce, bolge, mahalle, posta kodu, ulke, hastane, dogum yeri",
    },
    Words(
        "state anxiety, health state, marital state, mental state, state of, estado civil, estado salud, "
        "estado de salud, in hospital, days in, nights in, hospital days, at place, area of, hospital stay*, "
        "hospital visit*, los, days in hospital, center score, email address, e mail address, "
        "mail address, ip address"
    ),
)
SMALL_PLACES = Words(
    "city, cities, town, township, village, vill, villnum, zip, zipcode, postal, *postcode*, post code, "
    "residence, municipality, municipal, borough, suburb, neighbourhood*, neighborhood*, tract, block group, "
    "lsoa*, msoa*, ward, wards, hospital, clinic, facility, address, site, place, location, locality, "
    "community, parish, precinct, beat, station, school name, stadt, ort, orte, wohnort, geburtsort, "
    "gemeinde*, plz, postleitzahl, stadtteil, klinik, krankenhaus, ville, commune*, code postal, =cp, "
    "quartier, iris, hopital, ciudad, municipio*, codigo postal, barrio, localidad, citta, comune, =cap, "
    "quartiere, ospedale, cidade, freguesia, bairro, cep, stad, gemeente, woonplaats, wijk, buurt, "
    "ziekenhuis, miasto, miejscowosc, gmina, kod pocztowy, szpital, kommun*, postnummer, bostadsort, "
    "sjukhus, "
    "sehir, ilce, mahalle, posta kodu, hastane"
)
"""Words for places below a region."""

GRADE_REACHED = Subject(
    "education",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "highest grade*, grade completed, school grade, years of schooling, educ grade, grade level",
    },
)
SEXUAL_LIFE = Subject(
    "sexual life",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "usemeth*, knowmeth*, "
        "unsafe, unprotected, unsafe sex, "
        "birth control, "
        "affair, affairs, extramarital, sex ever, sex age, sex num*, same sex, sexual*, sex orient*, "
        "orientation, sex partner*, lgb*, condom*, contracept*, abortion*",
        "de": "sexuell*, sexualleben, verhuetung",
        "fr": "sexuel*, contraception",
        "es": "sexual*, orientacion",
        "it": "sessual*, orientamento",
        "pt": "sexual*, orientacao",
        "nl": "seksue*, geaardheid",
        "pl": "seksual*",
        "sv": "sexuell*, sexliv",
        "tr": "cinsel yonelim",
    },
)
EVENT_DATE = Subject(
    "a date of an event",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "year born, yr born, month born, mnthborn, yearfm, monthfm, "
        "yr onset, year onset, onset, *onset, "
        "yrdth, modth, dadth, "
        "*birth, *birth*, mobirth, yrbirth, date, dates, admission date, admidate, discharge date, "
        "disdate, *deathmon*, *deathday*, date of death, death date, death month, death day, "
        "death year, year of death, birth year, year of birth, yob, birthyear, birth month, "
        "month of birth, birth, born, timestamp, survey year, interview year, datetime",
        "de": "datum, gebjahr, geburtsjahr, geburtsmonat, gebmonat, jahrgang, sterbejahr, sterbedatum, "
        "aufnahmedatum",
        "fr": "annee naissance, mois naissance, date, annee naiss, anais, naissance",
        "es": "ano nac, anio nac, mes nac, fecha*, ano nacimiento, anio nacimiento, mes nacimiento, "
        "nacimiento",
        "it": "anno nascita, mese nascita, anno di nascita, nascita",
        "pt": "ano nascimento, data nascimento, nascimento, ano de nascimento",
        "nl": "geboortejaar, geboortedatum, opnamedatum",
        "pl": "rok urodzenia, data urodzenia, data przyjecia",
        "sv": "fodelsear, fodelsedatum",
        "tr": "dogum yili, dogum tarihi, tarih, tarihi",
    },
    Words("birth weight, birth order, birth defect*, birth rate, birth length, birth control, birthplace"),
)
MONEY = Subject(
    "money",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "rincom*, "
        "=price, lnw, lnwage, "
        "cr card, credit card, thinc, tot inc, net inc, gross inc, nwifeinc, *hincome, *inc$, hinc, "
        "pinc*, wkswage, weekinc, tinc, hearn*, re 74, re 75, re 78, rate$ pay, daily rate, "
        "monthly rate, hourly rate, hourly*, compensation, bonus, stock option*, property magnitude, "
        "credits, *credit, *credits, creditor*, payment plan*, checking*, installment*, amount, "
        "deny, welfare, afdc, food stamp*, snap, medicaid, freelun*, free lunch, ownrent, "
        "financial*, finance*, avgexp, totexp, price paid, home value, medexp, med expend*, "
        "insurance paid, reimburse*, budget, welf*, dollar*, nettoincome, brutto*, netto*, hhi, whi, "
        "household inc, linc*, wealthindex, wealth index, loginc*, logwage, lnwage, lninc*, income*, "
        "*income, inc, *hhinc, hhninc, hhinc*, faminc*, fincome, rincome*, realinc, coninc, linc, "
        "hinctnt*, *hhin 2, *fmin 2, *hhinc*, salary*, salaries, wage, wages, lwage, *wage, wageh, "
        "earning*, earn, earns, pay, payment*, payrate, debt*, loan*, credit, balance, savings, "
        "saving, expend*, expense*, spending, tax, taxes, taxinc, *tax, wealth*, assets, net worth, "
        "capital gain*, capital loss*, dividend*, pension*, benefit, benefits, rent, mortgage*, "
        "revenue, default, poverty*, povpip, v 190, hv 270, hv 271, drugdol, meddol, inpdol, "
        "outpdol, *dol$, cost, costs, charges, dollars, bankrupt*, stocks, bonds, alimony",
        "de": "*eink, hheink, *gehalt*, *lohn*, *einkommen*, *verdienst*, *kosten, *rente, *schulden*, "
        "gehalt, lohn, *lohn, verdienst, vermoegen, schulden, rente, miete, steuer*, kredit*, "
        "ersparnis*, sozialhilfe, pglabgro, pglabnet",
        "fr": "salaire*, revenu*, dette*, impot*, loyer, patrimoine, epargne, retraite, pension, "
        "traitement brut",
        "es": "ingreso*, salario*, sueldo*, deuda*, impuesto*, alquiler, patrimonio, ahorro*, prestamo*, "
        "pension, renta",
        "it": "reddit*, stipendio*, salario*, debit*, imposta, imposte, affitto, patrimonio, risparmi*, "
        "pensione",
        "pt": "renda, rendimento*, salario*, divida*, imposto*, aluguel, patrimonio, poupanca, ordenado",
        "nl": "*inkomen*, salaris*, loon, *loon, schuld, schulden, belasting*, huur, vermogen, pensioen, "
        "uitkering",
        "pl": "dochod*, zarobk*, wynagrodzen*, dlug*, podat*, czynsz, majatek, oszczednosc*, emerytur*",
        "sv": "*inkomst*, skuld*, skatt*, hyra, formogenhet, sparande, pension",
        "tr": "gelir*, maas*, ucret*, borc*, vergi*, kira, servet, tasarruf*, hane geliri",
    },
    Words("life balance, *parente"),
)
RESULTS = Subject(
    "results or an outcome",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "=fstat, =lenfol, =read, =write, =science, "
        "decision, decisions, success, "
        "=math, =maths, =mathematics, =reading, "
        "recur*, rtime, dtime, stime, "
        "run time, race time, finish time, chip time, net time, gun time, "
        "lang post*, lang pre*, lang score*, arit*, pre test*, post test*, pretest*, posttest*, "
        "repeat grade, repeatgr*, repeated grade*, "
        "vocab, spelling score, survived, mathscore, readscore, tmath*, tread*, *score$, tuce, "
        "=grade, deces, attempt result, attrition, churn, dropout, drop out, turnover, censors, "
        "cens, died*, mort, dthdate, class of degree, act score, satv, satq, quiz*, midterm*, "
        "final exam, homework*, points, passing, admitted, admit, hired, promotion*, complications, "
        "complication, follow up, followup, vstatus, lfollow, ptime, los outcome, death, deaths, "
        "died, dead, deceased, mortality, *outcome*, cause of death, causeofdeath, survival*, "
        "survive, futime, fustat, followup time, follow up time, time to event, event, alive, "
        "vital status, fatal*, relapse*, recurrence, recovered, readmi*, exam, exams, *score, "
        "scores, score*, grade, grades, final grade, =g 1, =g 2, =g 3, gpa, mark, marks, "
        "test result*, results, result, testscore*, failures, rating, performance*, evaluation, "
        "appraisal, iq, sat, ielts, toefl, passed, =status, =censor*",
        "de": "*note$, note #, note mathe, note deutsch, tod, verstorben, todesursache, gestorben, "
        "ueberleben*, *note, noten, *noten, zensur*, pruefung*, ergebnis*, punktzahl, leistung, "
        "ausgang",
        "fr": "deces, mort, decede*, cause deces, survie, =note, notes, *notes, examen*, resultat*, "
        "moyenne, brevet",
        "es": "muerte, fallecid*, defuncion*, causa muerte, supervivencia, calificacion*, =nota, notas, "
        "examen*, resultado*, puntaje, puntuacion, puntos",
        "it": "morte, decesso, deceduto, causa morte, sopravvivenza, =voto, voti, esame, esami, "
        "risultato*, punteggio",
        "pt": "evolucao, desfecho, morte, obito, obitos, causa obito, sobrevivencia, =nota, notas, exame*, "
        "resultado*, pontuacao",
        "nl": "overleden, overlijden*, doodsoorzaak, cijfer, cijfers, examen*, resultaat, resultaten, "
        "uitslag",
        "pl": "zgon*, smierc, przyczyna zgonu, ocena, oceny, egzamin*, wynik*",
        "sv": "=dod, avliden, dodsorsak, betyg*, =prov, resultat*, poang*",
        "tr": "olum, olum nedeni, not ortalamasi, sinav*, sonuc*, puan*, basari",
    },
    Words("years since last promotion"),
)
CONDUCT = Subject(
    "conduct",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "released, felon*, "
        "homicide*, murder*, shooting*, robbery, robberies, theft*, assault*, burglar*, rape, "
        "kidnap*, arson, manslaughter, "
        "crime*, criminal*, offence*, offense*, convict*, arrest*, sentence*, verdict*, fraud, "
        "violation*, complaint*, recid, *recid*, priors, prior arrests, felony, fel, misd, juv, "
        "charge, jail*, prison*, custody, parole, probation, punish*, cheat*, bully*, weapon*, "
        "police, disciplinary, illegal*, deviant*",
        "de": "straftat*, delikt*, vorstrafe*, verurteil*, haft, urteil, betrug, beschwerde*",
        "fr": "crime*, delit*, condamn*, infraction*, prison*, fraude, plainte*",
        "es": "delito*, crimen*, condena*, arresto*, prision, fraude, denuncia*, infraccion*",
        "it": "reato, reati, condann*, arrest*, carcere, frode, denunci*",
        "pt": "crime*, delito*, condena*, prisao, fraude, denuncia*",
        "nl": "misdrijf*, misdaad*, veroordel*, gevangenis*, fraude, delict*, klacht*",
        "pl": "przestepstw*, wyrok*, skazan*, wiezien*, oszustw*",
        "sv": "brott*, =dom, domar, fangelse*, bedrageri*",
        "tr": "=suc, suclar, ceza*, hapis*, dolandiric*",
    },
)
HEALTH = Subject(
    "health",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "inj*, neck, low back, extremit*, chf, cvd, cad, chd, pvd, htn, afib, hemophil*, haemophil*, "
        "cd 4, ivdrug*, *bwght, bwght*, "
        "gcs, amnesia, consciousness, "
        "*chronic, "
        "transm*, t categ, exposure categ*, exposure group*, risk group, infection route, "
        "meno, hormon*, "
        "low birth weight, premie, preterm*, gestation*, inj severity, inj, injur*, "
        "immun*, "
        "high bp, hosp, premi, smstat, previous mi, "
        "*poison*, pesticide*, drowning, hanging, flu, influenza, grippe, pneumon*, bronchi*, "
        "*itis, *carcinoma*, *lymphoma*, melanoma*, leukemi*, leukaemi*, anemia, anaemia, "
        "ischem*, ischaem*, infarct*, fracture*, sepsis, hemorrhag*, placebo, haemorrhag*, "
        "chemo*, radiotherapy, measles, masern, mumps, rubella, polio, pertussis, smallpox, "
        "cholera, dengue, tetanus, migraine, cirrhosis, thrombo*, embol*, gout, psoriasis, "
        "eczema, aspirin, ibuprofen, paracetamol, antibiotic*, statin*, insulin, steroid*, "
        "methadone, opiate*, amphetamine*, ecstasy, lsd, crack, marijuana, hashish, smoker*, "
        "smoked, ex smoker*, nonsmoker*, non smoker*, former smoker*, grippe*, krebs, "
        "herzinfarkt, schlaganfall, cardiac, renal, hepatic, hbp, *smk, smk*, *ulcer*, *fever*, "
        "*cough*, nervous break*, nerves, headache*, weak heart, bronch, heart fail*, "
        "rx, bleed*, "
        "a 1 c, a 1 cresult, result of lab, vax*, blood type, blood group, bloodtype, vaccinated, "
        "=trt, treat, treated, =tx, induced, spontaneous, ptl, abort*, gravid*, npreg, bw low, =ui, "
        "ecog*, karno*, tumor size, ulcer, thickness, hist, histology, receptor, =er, =pgr, nodes, "
        "menopaus*, ascites, hepato*, edema, spiders, cough, fever, vomit*, chills, pain, aches, "
        "jaundice, hb a, hba 1 c, heart disease, angina, exang, arrhyth*, ckd, copd, insulin use, "
        "epilep*, autis*, adhd, schizo*, bipolar, ptsd, anxiety, dementia, alzheimer*, cogn*, "
        "hospitalized, hospitalised, hospitalization*, hospitalisation*, icu, ventilat*, intubat*, "
        "dialysis, transplant*, sick*, unwell, illhealth, chrondis, actdays, physician visit*, "
        "doctor*, =emr, =ofp, =ofnp, =opp, =opnp, emergency visit*, nonpresc*, prescrib*, prescription*, "
        "malaria, =tb, tubercul*, hepatitis, std, anemia, anaemia, stunting, underweight, wasting, "
        "overweight, obese, smk, cigs, packs, bweight low, exer, diet, allergy, medhist, comorb*, "
        "disorder*, syndrome*, allele*, gene, mutation*, snp*, hiv #, *diagnos*, diag, diags, "
        "disease*, disea, illness*, icd, icd 10, symptom*, condition*, treatment*, therap*, "
        "medicat*, medicin*, medical, drug, drugs, *drugs, hiv, aids, *cancer*, tumor*, tumour*, "
        "*injury*, disab*, health*, *health, hlth*, *hlth, pregnan*, mental*, psychiatr*, addict*, "
        "genetic*, genome, genotype, surg*, operation, operations, opertn*, procedure, vaccin*, "
        "virus, covid*, blood pressure, cholesterol, bmi, bmxbmi, *smok*, cigar*, tobacco, "
        "*alcohol*, alc, dalc, walc, drink*, diabet*, *asthma*, stroke, hypertens*, depress*, "
        "suicid*, marij*, cannabis, cocaine, heroin, opioid*, docvis, hospvis, doctor visit*, "
        "hospital visit*, hospital stay*, mdvis, physlm, chronic, comorbid*, stage, obes*, allerg*, "
        "hearing, blind, mgus, biopsy, metasta*, infect*, cesd, ces d, phq #, gad 7, bdi, hamd, "
        "madrs, mmse, moca, pcs, mcs, sf 36, sf 12, eq 5 d, qol, substance*, detox*, overdose*, rehab*",
        "de": "blutgruppe, *krankheit*, krankenkasse, impfstatus, *behinder*, arztbesuch*, pflege*, "
        "pflegegrad, *krank*, befund*, diagnos*, therapie*, behandlung*, behinder*, gesund*, "
        "schwanger*, medikament*, raucher*, rauchen, operation*, impf*, sucht*, unfall*, depressi*",
        "fr": "groupe sanguin, *maladie*, arret maladie, maladie*, diagnostic*, traitement*, sante*, "
        "handicap*, grossesse, enceinte, medicament*, fumeur*, tabac, alcool*, operation*, vaccin*, "
        "accident*, antecedent*",
        "es": "tipo sangre, grupo sanguineo, *enfermedad*, enfermedad*, diagnostic*, tratamiento*, salud, "
        "discapacidad*, embaraz*, medicamento*, fumador*, tabaco, cirugia*, vacuna*, sintoma*, "
        "cobertura medica, seguro medico, obra social",
        "it": "malatti*, diagnosi*, terapi*, salute, disabil*, gravidanz*, farmac*, fumator*, =fumo, "
        "chirurg*, vaccin*, sintom*, copertura sanitaria",
        "pt": "=uti, causabas, doenca*, diagnostic*, tratamento*, saude, deficiencia*, gravid*, "
        "medicamento*, fumador*, fumante*, cirurgia*, vacina*, sintoma*, plano de saude",
        "nl": "ziekte*, diagnos*, behandel*, gezondheid*, handicap*, zwanger*, medicijn*, rook*, roken, "
        "operatie*",
        "pl": "chorob*, diagnoz*, rozpoznanie, leczeni*, zdrowi*, niepelnosprawn*, ciaz*, =lek, leki, "
        "palac*, operacj*",
        "sv": "sjuk*, diagnos*, behandling*, halsa*, funktionshind*, gravid*, lakemedel, rok*, operation*",
        "tr": "hastalik*, =tani, teshis, tedavi*, saglik*, engel*, gebe*, hamile*, ilac, ilaclar, sigara*, "
        "ameliyat*",
    },
    Words("medical special*, medical school, health worker*, health profession*"),
)
BELIEFS = Subject(
    "beliefs",
    Ground.FEW,
    Role.SENSITIVE,
    {
        "en": "protest, protestants, "
        "church going, left right scale, ideol*, self lr, selflr, clinlr, dolelr, *lr$, "
        "conservativ*, conservatis*, liberal*, republic*, democrat*, candidate*, statusquo, election*, "
        "electoral*, ballot, "
        "abort opinion, europe, god, pray*, attend, attendance church, christian, muslim, jewish, "
        "catholic, protestant, religio*, relig, rlg*, faith, denomina*, church*, politic*, "
        "polviews, party, partyid, prtv*, vote, voted, voter, voting, lrscale, union member*, "
        "trade union, labor union, labour union, union, belief*, ideolog*, left right, abany",
        "de": "kirchgang, links rechts, konfession*, religion*, glaube*, kirche*, partei*, wahl*, "
        "gewerkschaft*, politisch*",
        "fr": "religion*, parti, vote*, syndicat*, syndique*, politique*, croyance*",
        "es": "religion*, partido*, voto*, sindicat*, politic*, creencia*, ideologia*",
        "it": "religion*, partito, votato, sindacat*, politic*, =credo, =fede",
        "pt": "religi*, partido*, voto*, sindicat*, politic*, crenca*",
        "nl": "religie*, geloof*, kerk*, partij*, =stem, vakbond*, politiek*",
        "pl": "religi*, wyznani*, parti*, wybory, zwiazk*, polityk*, poglad*",
        "sv": "religion*, =tro, parti*, rost*, fackforening*, politisk*",
        "tr": "=din, dini, inanc*, parti, =oy, sendika*, siyasi*",
    },
    Words("participa*, particul*, partial*, partition*"),
)
ANSWER = Subject(
    "an answer or a measurement",
    Ground.FEW,
    Role.INSENSITIVE,
    {
        "en": "sbp, dbp, trestbps, restecg, thalach, oldpeak, slope, fbs, pulse #, hr, bili, copper, "
        "alk phos, ast, alt, trig, protime, wbc, rbc, hematocrit, haematocrit, mcv, psa, crp, bun, "
        "sodium, potassium, calcium, egfr, ferritin, vitamin*, meal cal, wt loss, urea, psf, index, "
        "xghindx, mhi, likes, prefers, preference, rank order, overtime, business travel, "
        "travel time, traveltime, environment satisf*, worklife*, work life*, job satisf*, "
        "job involve*, jobsat*, training times*, distance from home, dist, distance, clap, fold, "
        "ses, mtr, gc, ttme, invc, invt, mode, choice, =q #, =item #, =answer #, =question #, "
        "=var #, =x #, satisf*, opinion*, attitude*, trust*, trst*, trstplt, happy, happiness, mood, "
        "agree*, likert, scale, *rooms, pulse, bp, bpsys*, bpdia*, *bpsys*, *bpdia*, testosterone, "
        "creatinine, kappa, lambda, hemoglobin, haemoglobin, platelet*, albumin, glucose, insulin, "
        "*chol, hdl, ldl, triglycer*, urine*, temperature, heart rate, kg, duration, los, "
        "length of stay, studytime, sleep*, tv*, comp hrs*, absences, reaction, dose, concentration, "
        "density, lab, body weight, birth weight, birthweight, bwt, weightkg, weight kg, bmxwt, "
        "circumference, volume, width",
        "de": "=frage #, =f #, zufrieden*, meinung*, blutdruck, koerpergewicht, dauer, messwert, "
        "laborwert, einstellung",
        "fr": "=question #, satisfaction, avis, tension, poids corporel, duree, mesure, confiance, "
        "taille echantillon",
        "es": "=pregunta #, =p #, satisfaccion, opinion, presion, duracion, medida, confianza",
        "it": "=domanda #, soddisfazione, opinione, pressione, durata, misura, fiducia",
        "pt": "=pergunta #, satisfacao, opiniao, pressao, duracao, medida, confianca",
        "nl": "=vraag #, tevreden*, mening, bloeddruk, duur, meting, vertrouwen",
        "pl": "=pytanie #, zadowolen*, opinia, cisnienie, czas trwania, pomiar, zaufanie",
        "sv": "=fraga #, nojd*, asikt*, blodtryck, varaktighet, matning, fortroende",
        "tr": "=soru #, memnuniyet, gorus, tansiyon, =sure, olcum, guven",
    },
)
AGE = Subject(
    "an age",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "agef*, age at*, ageat*, *age, agep, *ages",
        "de": "*lebensalter, *eintrittsalter",
        "sv": "*alder, agarald",
    },
    Words(
        "*wage, *wages, *language, *languages, *page, *pages, *stage, *stages, *usage, *mileage, *average, "
        "*village, *percentage, *coverage, *package, *damage, *mortgage, *message, *storage, *voltage, "
        "*dosage, *marriage, *passage, *image, *lineage, *garage, *advantage, *beverage, *baggage, *manage, "
        "*drainage, *shortage, *sewage, *triage, *menage, *sondage, *chomage, *heritage"
    ),
)
DEMOGRAPHY = Subject(
    "demography",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "fml, nwhite, "
        "hispan*, ethrace*, "
        "white mom, black mom, "
        "oth race, othrace*, other race, "
        "descent, ancestry, nonwhite, hisp, latino, latina, afam, afroam*, caucasian, mex, "
        "ethnicity, minority, rac 1 p, racsex, sex code, men, women, man, woman, boy, girl, femsex, "
        "=fem, =f, nativity, natvty, migrant, refugee*, asylum, foreign born, foreignborn, "
        "us citizen, uscitizen, hhage, dage, agemo*, age months, agemonths, eth, mar, born abroad, "
        "birthcountry, english, zodiac, caste, tribe, clan, indigenous, aborig*, age, ages, agea, "
        "iage, xage, *ageyr*, agegroup, agegrp, agecat, ageband, agedecade, sex, isex, =sx, gender, gndr, "
        "*gendr, *gender, female, male, race, races, raceth*, irace, race 1, *reth 1, *reth 3, *ethnic*, "
        "ethnos, ethn, hispanic, *hispanic, black, white, asian, native, citizen*, immigra*, migra*, "
        "foreign*, nationalit*, language*, tongue, lang, generation, cohort, v 012, v 013, v 106, "
        "mv 012, veteran*, adult",
        "de": "alter, altersgruppe, geschlecht, staatsangehoerigkeit*, *angehorigkeit*, nationalitaet, "
        "muttersprache, sprache, migrationshintergrund, herkunft, auslaender*, gastarb*",
        "fr": "age, sexe, genre, nationalite, langue, immigre*, origine, tranche age, classe age",
        "es": "edad, sexo, genero, nacionalidad, idioma, lengua, etnia, raza, inmigrante*, origen, "
        "extranjero*",
        "it": "eta, sesso, genere, cittadinanza, nazionalita, lingua, etnia, straniero*, classe eta",
        "pt": "racacor, raca cor, idade, sexo, genero, nacionalidade, lingua, idioma, raca, =cor, etnia, "
        "naturalidade, faixa etaria",
        "nl": "leeftijd*, geslacht, nationaliteit, taal, herkomst, etniciteit, migratieachtergrond",
        "pl": "wiek, plec, narodowosc, obywatelstwo, jezyk, pochodzenie",
        "sv": "alder*, =kon, medborgarskap, nationalitet, sprak, harkomst, fodelseland",
        "tr": "yas, yas grubu, cinsiyet, uyruk, =dil, koken, milliyet",
    },
)
FAMILY = Subject(
    "family",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "*kids, "
        "livch, living children, "
        "*chld*, *marr, marry, ceb, "
        "=home, home owner*, separated, never married, siblings, "
        "kids*, kids lt 6, kidslt 6, kidsge 6, numkids, nkids, hmarried, marr, maried, numdep, "
        "ndeps, dependent, marstat, mstatus, mar stat, personal status, sib sp, sibsp, parch, "
        "parity, birth order, birthorder, firstborn, hhkid*, n adults, adults, nadults, live alone, "
        "lives alone, yrs married, yrsmarried, years married, rate marriage, family size, momed, "
        "wifed, husb*, hus*, wife*, husband*, fmarried, spouse age, has children, orphan*, adopted, "
        "daddead, divorce, marital*, *marital*, *martl, married, marriage*, civil, civil status, "
        "hhcivil, divorced, widow*, single, spouse*, partner, partners, relationship*, relat, relp, "
        "children, child, childs, kids, kids #, hhkids, nchild, sibs, sibling*, brothers, sisters, "
        "twin, household*, hh size, hhsize, hhmmb, family*, famsize, fam size, lfam, pstatus, "
        "guardian, parent, parents, mother, father, persons, num persons, dependents, dependants, "
        "head of household, housing, home own, housing tenure, cohab*, hsize, kinship, rel to head, relhead",
        "de": "kinderanzahl, kinderzahl, anzahl kinder, familienstand, verheiratet, kinder, "
        "haushaltsgroesse, haushalt*, ehepartner, geschwister, famges, famstand, wohn*, mutter, vater, "
        "verwandtschaft*",
        "fr": "situation familiale, etat matrimonial, matrimonial*, enfant*, menage, marie, conjoint, "
        "famille, frere, freres, soeur, soeurs, fratrie, =mere, =pere, taille menage, logement, "
        "lien parente, lien de parente, =parente",
        "es": "estado civil, estadocivil, hijos, hogar, familia*, conyuge, casado, madre, padre, vivienda, "
        "parentesco",
        "it": "stato civile, figli, famiglia, coniuge, nucleo familiare, sposato, madre, padre, abitazione, "
        "parentela",
        "pt": "estciv, est civ, estado civil, estadocivil, filhos, agregado familiar, familia*, conjuge, "
        "casado, mae, pai, domicilio, parentesco",
        "nl": "burgerlijke staat, kinderen, huishouden*, gezin*, partner, gehuwd, moeder, vader, woning, "
        "verwantschap",
        "pl": "stan cywilny, dzieci, gospodarstwo*, rodzina, malzonek, matka, ojciec, pokrewienstwo",
        "sv": "civilstand, barn, hushall*, familj*, =make, =maka, =mor, =far, boende, slaktskap",
        "tr": "medeni durum, medeni hal, cocuk*, hane, hanehalki, aile*, =es, anne, baba",
    },
)
JOB = Subject(
    "job or education",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "*college, *colleges, empl, yedu, university, univ, self employed, selfemp*, "
        "judge, lawyer, attorney, surgeon, "
        "job*, "
        "seniority, "
        "years exp, yrs exp, work exp, "
        "*employment, "
        "classk, schid*, schoolid, school id, exper, expersq, experience, yrs experience, "
        "years at company, yearsat*, total working years, tenure, ten, years in current role, "
        "num companies worked, numcompanies*, hired date, lfp, inlf, labor force, labour force, "
        "unem, whrswk, hrs*, hushrs, hrswk, wkswork*, wks, bluecol*, whitecol*, blue collar, "
        "white collar, construc, profocc, clerocc, servocc, profserv, manag*, ed, edu*, educatn, "
        "motheduc, fatheduc, meduc, feduc, momeduc, dadeduc, nodegree, hsgrad, collgrad, somecol, "
        "student, students, teacher, pupil, discipline, yrs since phd, yrs service, field of study, "
        "education field, jobrole, role, position, job title, emp title, pclass, "
        "wrk*, esr, schl, cow, indp, occp, "
        "naicsp, public sector, selfempl*, self employed, looked for work, retire*, homemaker, "
        "housewife, apprentice*, =training, job training, vocational training, unskilled, skilled, "
        "occupation*, *occup*, profession*, "
        "job, jobs, *job, employ*, employment, unemploy*, selfemp*, outwork, industr*, indus, "
        "sector, workclass, class of worker, work, worker*, working*, workplace, wrkstat, hours, "
        "hours per week, hrs week, weeks worked, company, firm, organisation, organization, "
        "department, dept, rank, specialty, isco*, nace, soc, sic, naics, occ, occ 10, indus 10, "
        "retired, tenure job, army, military, education*, *educ*, educ, edu, edlevel*, eduyrs, "
        "edulvl*, medu, fedu, isced, degree, degrees, school, schools, schooling, college, "
        "university, universities, graduate, qualification*, studies, study, course, major, diploma, "
        "literate, literacy, class",
        "de": "schulab*, berufl*, beruf*, *beruf, erwerb*, arbeitgeber, arbeit, taetigkeit, stellung, "
        "branche, wirtschaftszweig, firma, abteilung, schul*, *abschluss, ausbildung*, bildung*, "
        "studium, arbeitslos*",
        "fr": "=bac, bac, catsociopro, cat socio pro, socio pro*, profession*, metier*, emploi*, csp, "
        "categorie socioprofessionnelle, secteur*, activite, entreprise, employeur, chomage, "
        "diplome*, etude*, *etudes, nivetud*, niv etud*, qualif*, formation*, "
        "niveau etude*, scolarite, ecole, lycee, classe",
        "es": "nivel educ, nivel educacion, sit laboral, situacion laboral, ocupacion*, profesion*, "
        "trabajo*, empleo*, empresa, sector, actividad, desempleo, educacion*, estudio*, "
        "escolaridad, nivel educativo, escuela, titulacion, carrera",
        "it": "occupazione, professione, lavoro, impiego, azienda, settore, disoccupa*, istruzione, "
        "titolo di studio, titolo studio, scuola, laurea, diploma",
        "pt": "ocup, ocup*, nivel instrucao, ocupacao, profissao, trabalho, emprego, empresa, setor, "
        "desemprego, escolaridade, educacao, instrucao, grau de instrucao, escola, formacao",
        "nl": "beroep*, werk, werkgever, baan, functie, sector, bedrijf*, werkloos*, opleiding*, "
        "onderwijs*, school, diploma",
        "pl": "zawod, praca, stanowisko, pracodawca, branza, zatrudnien*, bezrobo*, wyksztalcenie, "
        "edukacja, szkola",
        "sv": "yrke*, arbete*, jobb, arbetsgivare, bransch, sysselsattning, utbildning*, skola, examen",
        "tr": "meslek*, calisma*, sektor, isveren, gorev, egitim*, ogrenim*, okul, mezuniyet, is durumu",
    },
    Words("*reduc*, *seduc*"),
)
SEEN = Subject(
    "what others see",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "hgt, "
        "year veh*, model year, veh year, "
        "ht, "
        "height, heightcm, height cm, bmxht, stature, eye, eyes, hair, skin, handedness, car, "
        "vehicle, pet",
        "de": "koerpergroesse, groesse, augenfarbe, haarfarbe, =auto",
        "fr": "taille, yeux, cheveux, voiture",
        "es": "estatura, talla, ojos, pelo, cabello",
        "it": "altezza, statura, occhi, capelli",
        "pt": "altura, estatura, olhos, cabelo",
        "nl": "lengte, oogkleur, haarkleur",
        "pl": "wzrost, oczy, wlosy",
        "sv": "langd, ogonfarg, harfarg",
        "tr": "=boy, =goz, =sac",
    },
)
MOMENT = Subject(
    "a time of an event",
    Ground.OUTSIDE,
    Role.QUASI_IDENTIFIER,
    {
        "en": "year$, yr$, month$, day$, weekday$, week$, quarter$, hour$, wave$, =admission, =discharge, "
        "=yearqtr, syear",
        "de": "jahr$, monat$, tag$, woche$, quartal$, uhrzeit$, welle$",
        "fr": "annee$, mois$, jour$, semaine$, trimestre$, heure$",
        "es": "ano$, anio$, mes$, dia$, semana$, trimestre$, hora$",
        "it": "anno$, mese$, giorno$, settimana$, trimestre$, ora$",
        "pt": "ano$, mes$, dia$, semana$, trimestre$, hora$",
        "nl": "jaar$, maand$, dag$, week$, kwartaal$, uur$",
        "pl": "rok$, miesiac$, dzien$, tydzien$, kwartal$, godzina$",
        "sv": "ar$, manad$, dag$, vecka$, kvartal$, timme$",
        "tr": "yil$, ay$, gun$, hafta$, ceyrek$, saat$",
    },
)

SUBJECTS = (
    *(PLACE, EVENT_DATE, GRADE_REACHED, SEXUAL_LIFE, MONEY, RESULTS, CONDUCT, HEALTH, BELIEFS, ANSWER),
    *(FAMILY, JOB, DEMOGRAPHY, AGE, SEEN, MOMENT),
)
"""Subjects of columns in the order in which they are asked for."""


@lru_cache(maxsize=4096)
def subject_of(name: str) -> Subject | None:
    """Return the first subject with a word in the name of a column; None if there is none.

    >>> subject_of("health_region").what, subject_of("household_income").what, subject_of("anything")
    ('a place', 'money', None)
    """
    return next((each for each in SUBJECTS if each.named(name)), None)
