// Nothing of it is used: metal_stdlib beside this folder has the vector types.
#include <metal_stdlib>
