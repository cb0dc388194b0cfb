# libtorch out of the wheel: headers and libraries beside the Python package, found without the wheel's own CMake files
# (which enable CUDA languages and global flags). PASSNET_PYTHON is the interpreter whose torch is used.
find_program(PASSNET_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
find_program(PASSNET_PYTHON NAMES python3)
execute_process(
  COMMAND ${PASSNET_PYTHON} -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('torch').origin)); print(os.path.dirname(u.find_spec('torchgen').origin))"
  OUTPUT_VARIABLE torch_paths OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE torch_missing ERROR_QUIET)
if(torch_missing)
  message(FATAL_ERROR "torch is not installed for ${PASSNET_PYTHON}; run 'make setup', or pass -DPASSNET_PYTHON=<python with torch>")
endif()
string(REPLACE "\n" ";" torch_paths "${torch_paths}")
list(GET torch_paths 0 TORCH_DIR)
list(GET torch_paths 1 TORCHGEN_DIR)

add_library(passnet_torch INTERFACE)
target_include_directories(passnet_torch SYSTEM INTERFACE ${TORCH_DIR}/include)
target_compile_options(passnet_torch INTERFACE -fopenmp)  # without it at::parallel_for runs serially
target_link_options(passnet_torch INTERFACE -Wl,--no-as-needed)  # libtorch_cpu registers its operators when it is loaded
foreach(lib torch torch_cpu c10 torch_cuda c10_cuda)
  if(EXISTS ${TORCH_DIR}/lib/lib${lib}.so)
    target_link_libraries(passnet_torch INTERFACE ${TORCH_DIR}/lib/lib${lib}.so)
  endif()
endforeach()

# CUDA graphs need torch's CUDA headers, and these the runtime's, from the toolkit or the package beside torch.
if(EXISTS ${TORCH_DIR}/lib/libtorch_cuda.so)
  get_filename_component(packages ${TORCH_DIR} DIRECTORY)
  file(GLOB cuda_package_includes ${packages}/nvidia/*/include)
  find_path(CUDA_RUNTIME_INCLUDE_DIR crt/host_config.h HINTS ${cuda_package_includes} /usr/local/cuda/include)
  if(NOT CUDA_RUNTIME_INCLUDE_DIR)
    message(STATUS "no headers of the CUDA runtime: built without CUDA graphs")
  endif()
endif()
message(STATUS "torch: ${TORCH_DIR}")
