// What belongs to this model alone. Paths are relative to the folder of the program.
#pragma once

static const char kModelFile[] = "model/@MODEL@";
// Whether the model takes inputs of several shapes (rknn_set_input_shapes).
static const bool kSeveralShapes = @SEVERAL_SHAPES@;
// Terminated by nullptr. Without saved inputs there is nothing to compare with.
static const char* const kInputFiles[] = {@INPUT_FILES@nullptr};
static const char* const kSimulatorFiles[] = {@OUTPUT_FILES@nullptr};
// An output agrees with the simulator's when the cosine of the angle between them is at least this.
static const double kCosine = 0.9999;
