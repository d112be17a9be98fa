"""The weights of the model that sample.py draws from: invented, with the shape of a real register."""

from __future__ import annotations

# Ages 15-24, 25-34, 35-44, 45-54, 55-64, 65-74, 75-94: lower ends, widths, people, and women in a hundred.
AGE_LOW, AGE_WIDTH = (15, 25, 35, 45, 55, 65, 75), (10, 10, 10, 10, 10, 10, 20)
AGE_WEIGHT, WOMEN = (15, 19, 18, 17, 16, 10, 7), (49, 50, 50, 50, 51, 54, 61)

# One weight for each of the seven age groups.
MARITAL = {
    "Single": (970, 610, 300, 180, 110, 80, 60),
    "Married": (26, 340, 590, 640, 670, 660, 440),
    "Separated": (2, 20, 30, 30, 20, 10, 5),
    "Divorced": (2, 28, 75, 140, 150, 110, 65),
    "Widowed": (0, 2, 5, 10, 50, 140, 430),
}
EDUCATION = {
    "Less than primary": (4, 4, 6, 8, 12, 20, 35),
    "Primary": (40, 20, 25, 30, 45, 70, 140),
    "Lower secondary": (360, 110, 120, 130, 160, 190, 260),
    "Secondary": (480, 400, 420, 450, 460, 440, 380),
    "Postsecondary certificate": (50, 90, 90, 85, 75, 60, 40),
    "Associate degree": (10, 50, 60, 65, 60, 45, 30),
    "Bachelor": (52, 190, 150, 120, 90, 75, 45),
    "Master": (4, 120, 110, 95, 85, 85, 60),
    "Doctorate": (0, 8, 18, 17, 13, 12, 8),
}
COUNTRY = {
    "Germany": (8200, 7600, 7700, 8000, 8400, 8900, 9300),
    "Türkiye": (90, 190, 240, 230, 200, 220, 60),
    "Poland": (70, 200, 230, 250, 230, 190, 240),
    "Romania": (90, 170, 170, 110, 70, 60, 60),
    "Russia": (40, 90, 150, 150, 150, 140, 90),
    "Kazakhstan": (30, 110, 140, 110, 110, 100, 50),
    "Syria": (210, 250, 120, 50, 20, 8, 2),
    "Italy": (50, 80, 90, 90, 100, 100, 30),
    "Ukraine": (60, 70, 70, 60, 50, 40, 30),
    "Afghanistan": (120, 110, 50, 25, 10, 4, 2),
    "Bosnia and Herzegovina": (20, 40, 45, 55, 60, 40, 8),
    "Croatia": (20, 40, 40, 45, 50, 50, 12),
    "Greece": (25, 45, 45, 45, 45, 50, 15),
    "Bulgaria": (45, 60, 50, 35, 20, 10, 6),
    "Iraq": (70, 75, 45, 25, 12, 5, 2),
    "Iran": (25, 45, 40, 30, 30, 15, 5),
    "Serbia": (25, 40, 40, 40, 45, 40, 10),
    "Hungary": (25, 45, 40, 25, 15, 10, 12),
    "Czechia": (10, 20, 20, 18, 20, 40, 80),
    "Austria": (12, 22, 24, 26, 24, 22, 18),
    "India": (50, 70, 30, 12, 8, 5, 2),
    "China": (45, 45, 25, 15, 8, 4, 2),
    "Viet Nam": (18, 22, 25, 28, 25, 8, 1),
    "France": (14, 20, 20, 20, 15, 12, 8),
    "United Kingdom": (8, 14, 16, 16, 14, 10, 4),
    "United States": (12, 16, 14, 12, 12, 8, 3),
    "Spain": (14, 25, 20, 15, 12, 12, 4),
    "Portugal": (10, 16, 18, 18, 15, 12, 2),
    "Netherlands": (8, 12, 14, 14, 12, 10, 7),
    "Morocco": (14, 20, 20, 16, 12, 10, 1),
    "Tunisia": (8, 12, 9, 6, 5, 4, 0),
    "Nigeria": (14, 16, 10, 6, 3, 1, 0),
    "Eritrea": (24, 22, 8, 4, 2, 1, 0),
    "Ghana": (6, 8, 9, 9, 5, 2, 0),
    "Pakistan": (20, 22, 16, 10, 5, 2, 1),
    "Thailand": (6, 8, 14, 16, 9, 3, 0),
    "Brazil": (12, 16, 13, 9, 5, 2, 1),
    "Colombia": (6, 8, 6, 4, 2, 1, 0),
    "Mexico": (5, 6, 5, 3, 2, 1, 0),
    "Japan": (3, 5, 5, 4, 2, 1, 0),
}
# Base, then factors by education: lower secondary or less, secondary, below a degree, degree; women; men.
OCCUPATION = {
    "Managers": (3, 1, 3, 5, 12, 2, 3),
    "Engineer": (2, 0, 0, 3, 30, 1, 5),
    "Medical doctors": (1, 0, 0, 0, 32, 1, 1),
    "Nurse": (3, 1, 5, 9, 6, 8, 1),
    "Teaching professionals": (3, 0, 0, 2, 33, 5, 2),
    "Finance professionals": (2, 0, 2, 5, 12, 2, 2),
    "Software developer": (2, 0, 1, 5, 20, 1, 5),
    "Legal professionals": (1, 0, 0, 1, 24, 2, 2),
    "Technician": (4, 2, 4, 8, 4, 1, 3),
    "General office clerks": (5, 2, 6, 6, 3, 5, 2),
    "Secretaries (general)": (3, 2, 6, 6, 2, 9, 1),
    "Cooks": (2, 6, 5, 2, 1, 2, 2),
    "Waiters and bartenders": (2, 6, 4, 2, 1, 3, 2),
    "Shop salespersons": (5, 5, 6, 3, 1, 4, 2),
    "Personal care workers": (3, 5, 6, 3, 1, 6, 1),
    "Protective services workers": (2, 3, 5, 3, 1, 1, 4),
    "Farmer": (2, 4, 4, 3, 1, 1, 2),
    "Electrician": (3, 2, 6, 4, 0, 0, 5),
    "Plumber": (3, 4, 6, 3, 0, 0, 5),
    "Machinery mechanics and repairers": (3, 3, 6, 4, 0, 0, 5),
    "Assemblers": (3, 6, 4, 1, 0, 1, 2),
    "Truck driver": (3, 6, 5, 1, 0, 0, 5),
    "Cleaners and helpers": (4, 9, 3, 1, 0, 5, 1),
    "Manufacturing labourers": (3, 8, 3, 1, 0, 1, 3),
}
MANUAL = ("Farmer", "Electrician", "Plumber", "Assemblers", "Truck driver", "Cleaners and helpers")
INCOME = ("0-15k", "15k-30k", "30k-50k", "50k-80k", "80k+")
# Weights of the income classes by education in the four groups above, by age group, and by hours:
# none, part time, full time.
INCOME_BY_EDUCATION = ((9, 8, 3, 1, 0), (5, 8, 6, 2, 1), (3, 7, 8, 4, 1), (2, 4, 8, 9, 6))
INCOME_BY_AGE = ((9, 4, 1, 0, 0), (3, 5, 5, 3, 1), (2, 4, 6, 5, 3), (2, 4, 6, 6, 4), (2, 4, 6, 5, 4),
                 (4, 8, 4, 1, 1), (5, 8, 3, 1, 1))  # fmt: skip
INCOME_BY_HOURS = ((9, 6, 2, 1, 1), (6, 6, 3, 1, 1), (1, 4, 7, 6, 4))
# Weights by age group; women; men; by winter, spring, summer, autumn.
DIAGNOSIS = {
    "hypertension": ((2, 10, 35, 80, 120, 140, 150), 4, 5, (1, 1, 1, 1)),
    "back pain": ((25, 60, 80, 90, 80, 50, 30), 5, 5, (1, 1, 1, 1)),
    "depression": ((50, 55, 50, 50, 40, 20, 15), 6, 3, (3, 2, 2, 3)),
    "fracture": ((70, 45, 35, 35, 40, 60, 110), 5, 5, (4, 2, 3, 2)),
    "influenza": ((45, 35, 30, 25, 25, 40, 60), 5, 5, (9, 3, 1, 2)),
    "diabetes": ((5, 8, 20, 40, 70, 85, 80), 4, 5, (1, 1, 1, 1)),
    "asthma": ((55, 35, 28, 22, 18, 14, 10), 5, 4, (2, 4, 2, 2)),
    "arthritis": ((2, 6, 15, 35, 60, 75, 80), 6, 3, (3, 2, 2, 3)),
    "coronary heart disease": ((0, 2, 8, 25, 55, 80, 100), 3, 6, (3, 2, 2, 2)),
    "chronic bronchitis": ((1, 3, 10, 22, 40, 50, 45), 4, 5, (4, 2, 1, 2)),
    "complication of pregnancy": ((45, 110, 60, 2, 0, 0, 0), 5, 0, (1, 1, 1, 1)),
    "stroke": ((0, 1, 4, 12, 28, 45, 75), 5, 5, (1, 1, 1, 1)),
    "breast cancer": ((0, 3, 12, 28, 30, 28, 25), 5, 0, (1, 1, 1, 1)),
    "prostate cancer": ((0, 0, 1, 10, 35, 55, 45), 0, 5, (1, 1, 1, 1)),
    "HIV infection": ((4, 9, 8, 6, 3, 1, 0), 1, 4, (1, 1, 1, 1)),
}
HOURS = (0, 5, 8, 10, 12, 15, 18, 20, 24, 25, 28, 30, 32, 35, 36, 37, 38, 39, 40, 42, 45, 48, 50, 55, 60, 70)
HOURS_FEW = (9, 5, 3, 12, 5, 15, 6, 30, 7, 18, 5, 24, 9, 16, 3, 2, 4, 3, 6, 1, 2, 1, 2, 1, 1, 0)
HOURS_MANY = (2, 0, 0, 1, 0, 1, 0, 3, 1, 2, 1, 5, 4, 20, 8, 10, 25, 24, 90, 12, 22, 9, 18, 5, 6, 1)
# Weights of the ten regions, of the areas of each, and of the postal codes of an area.
REGION = (14, 30, 9, 11, 6, 8, 22, 5, 10, 4)
AREA, LOCAL = (40, 16, 10, 7, 5, 4, 3, 2), (24, 12, 8, 6, 4, 3, 2, 1)
MISSING = {"marital_status": 3, "education": 8, "country_of_birth": 5, "occupation": 15, "income_class": 20,
           "diagnosis": 4, "hours_per_week": 10}  # fmt: skip
"""Cells in a thousand that are left empty."""
