# tdl_add_library(NAME SOURCES a.tdl ... [DEFINES T=f16 ...] [OPTIONS --cpu=native ...] [RUNTIME shared])
#
# Compiles kernels into the static library NAME. Who links it can include <a.h> and gets the runtime, libtdl.a if not told
# otherwise:
#
#   tdl_add_library(kernels SOURCES ag_gemm.tdl DEFINES T=f16)
#   target_link_libraries(program PRIVATE kernels)
#
# A kernel is compiled again when its source, a file that this imports, or the compiler is newer. If the header's text stays the
# same, so does its time stamp, and what includes it is not compiled again. Sources may be .tile, .plan and .kern files.
# The same source with other DEFINES needs another NAME; its objects and headers lie in a folder of their own.
include_guard(GLOBAL)

function(tdl_add_library NAME)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "RUNTIME" "SOURCES;DEFINES;OPTIONS")
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "tdl_add_library(${NAME}): what is `${ARG_UNPARSED_ARGUMENTS}`? Kernels stand behind SOURCES")
    endif()
    if(NOT ARG_SOURCES)
        message(FATAL_ERROR "tdl_add_library(${NAME}): SOURCES is missing")
    endif()
    if(NOT ARG_RUNTIME OR ARG_RUNTIME STREQUAL "static")
        set(runtime tdl::runtime)
    elseif(ARG_RUNTIME STREQUAL "shared")
        set(runtime tdl::runtime_shared)
    else()
        message(FATAL_ERROR "tdl_add_library(${NAME}): RUNTIME should be static or shared, not `${ARG_RUNTIME}`")
    endif()
    if(NOT TARGET tdl::tdlc)
        message(FATAL_ERROR "tdl_add_library(${NAME}): there is no tdlc that runs here; set TDL_TDLC to one")
    endif()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.tdl)
    file(MAKE_DIRECTORY ${folder})
    set(defines "")
    foreach(define IN LISTS ARG_DEFINES)
        list(APPEND defines -D ${define})
    endforeach()

    set(objects "")
    set(headers "")
    foreach(source IN LISTS ARG_SOURCES)
        get_filename_component(stem ${source} NAME_WLE)
        get_filename_component(input ${source} ABSOLUTE)
        set(object ${folder}/${stem}.o)
        set(header ${folder}/${stem}.h)
        if(object IN_LIST objects)
            message(FATAL_ERROR "tdl_add_library(${NAME}): two sources are called ${stem}")
        endif()
        add_custom_command(
            OUTPUT ${object}
            BYPRODUCTS ${header}
            COMMAND tdl::tdlc -c -MD -MF ${object}.d ${defines} ${ARG_OPTIONS} -o ${object} -H ${header} ${input}
            DEPENDS ${input} tdl::tdlc
            DEPFILE ${object}.d
            COMMENT "Compiling kernels of ${source}"
            VERBATIM)
        list(APPEND objects ${object})
        list(APPEND headers ${header})
    endforeach()

    add_library(${NAME} STATIC ${objects} ${headers})
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    set_source_files_properties(${headers} PROPERTIES GENERATED TRUE HEADER_FILE_ONLY TRUE)
    # Objects alone say nothing about a language; any that the project has will do.
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
        set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE C)
    else()
        set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
    target_include_directories(${NAME} PUBLIC $<BUILD_INTERFACE:${folder}>)
    target_link_libraries(${NAME} PUBLIC ${runtime})
endfunction()
