# The warnings of every target of ours, and the sanitizers where asked for.
add_library(passnet_warnings INTERFACE)
target_compile_options(passnet_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(PASSNET_SANITIZE)
  add_compile_options(-fsanitize=${PASSNET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PASSNET_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 and 13 warn of nothing in std::variant, std::string and std::vector
  target_compile_options(passnet_warnings INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  target_compile_options(passnet_warnings INTERFACE -Wno-psabi)  # a note on aarch64 of what gcc 10 changed
endif()
