"""Prints reads of a random genome, as FASTA."""

import random

LENGTH, READ, COUNT = 5000, 80, 3000

random.seed(4)
genome = "".join(random.choice("ACGT") for _ in range(LENGTH))
for number in range(COUNT):
    place = random.randrange(LENGTH - READ)
    print(f">read{number}\n{genome[place:place + READ]}")
