"""Writes an alignment of twelve related sequences, drawn always the same way, in PHYLIP's format."""

import random

random.seed(5)
LENGTH = 400


def mutated(sequence, rate):
    return [random.choice("ACGT") if random.random() < rate else letter for letter in sequence]


sequences = [[random.choice("ACGT") for _ in range(LENGTH)]]
while len(sequences) < 12:
    parent = sequences.pop(0)
    sequences += [mutated(parent, 0.08), mutated(parent, 0.12)]
print(len(sequences), LENGTH)
for number, sequence in enumerate(sequences):
    print(f"taxon{number:02}   {''.join(sequence)}")
