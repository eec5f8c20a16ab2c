# Resolves, downloads, installs and verifies an environment's R packages with R's own functions.
#
#   Rscript r_packages.R resolve|fetch|install|verify     in a folder with
#
#   requested   the requirements, one per line: name, name==1.0 or name>=1.0
#   kept        name==version of the installed packages; they keep their version if possible
#   chosen      name==version of every package of the new environment
#   missing     the names of the packages that are not in the library yet
#   sources/    name_version.tar.gz
#   ../library  the installed packages
#
# `resolve` writes `chosen` and downloads the sources, from the repositories of R's own settings.

library_folder <- normalizePath("../library")
needed_fields <- c("Depends", "Imports", "LinkingTo")
fields <- c("Package", "Version", needed_fields)

# Return the lines of a file as a table with name, operator and version; the latter two may be empty.
read_requirements <- function(file) {
  parts <- regmatches(readLines(file), regexec("^([A-Za-z0-9.]+)(==|>=)?(.*)$", readLines(file)))
  column <- function(number) vapply(parts, `[`, "", number)
  data.frame(name = column(2), operator = column(3), version = column(4))
}

# Return the versions of a file of pins, by the packages' names.
read_pins <- function(file) {
  pins <- read_requirements(file)
  setNames(pins$version, pins$name)
}

# Return the URLs of the repositories of sources; CRAN's if none is configured.
source_addresses <- function() {
  repositories <- getOption("repos")
  if (is.null(repositories)) repositories <- "@CRAN@"
  repositories[repositories == "@CRAN@"] <- "https://cloud.r-project.org"
  contrib.url(repositories, type = "source")
}

# Return the packages that the repositories have for this R, one row each. An unreadable index is an error, since a
# package of the same name in another repository may be a different one.
offered_packages <- function() {
  withCallingHandlers(
    available.packages(contriburl = source_addresses(), type = "source", method = "libcurl"),
    warning = function(told) if (startsWith(conditionMessage(told), "unable to access index")) {
      stop(conditionMessage(told), call. = FALSE)
    }
  )
}

# Return the versions of the packages that come with R, by name, and of `R` itself.
own_packages <- function(priority) {
  own <- installed.packages(lib.loc = .Library, priority = priority)
  c(R = as.character(getRversion()), setNames(own[, "Version"], own[, "Package"]))
}

# Return the file of a package's source, downloaded if necessary; NULL if no repository has it.
source_file <- function(name, version) {
  file <- sprintf("%s_%s.tar.gz", name, version)
  target <- file.path("sources", file)
  addresses <- source_addresses()
  for (address in c(file.path(addresses, file), file.path(addresses, "Archive", name, file))) {
    if (file.exists(target)) break
    tell <- function(told) message(address, ": ", conditionMessage(told))
    tryCatch({
      download.file(address, paste0(target, ".part"), method = "libcurl", quiet = TRUE, mode = "wb")
      file.rename(paste0(target, ".part"), target)
    }, warning = tell, error = tell)  # a file that came in part is a warning only
  }
  if (file.exists(target)) target
}

# Return the fields of a source's DESCRIPTION.
described <- function(file, name) {
  untar(file, files = file.path(name, "DESCRIPTION"), exdir = tempdir(), tar = "internal")
  read.dcf(file.path(tempdir(), name, "DESCRIPTION"), fields = fields)[1, ]
}

# Return a package's dependencies as a table with name, operator and version.
needs_of <- function(description) {
  parts <- trimws(unlist(strsplit(na.omit(description[needed_fields]), ",")))
  parts <- parts[nzchar(parts)]
  pattern <- "^([A-Za-z0-9.]+)\\s*(?:\\(\\s*([<>=!]+)\\s*([0-9.-]+)\\s*\\))?"
  matched <- regmatches(parts, regexec(pattern, parts, perl = TRUE))
  column <- function(number) vapply(matched, `[`, "", number)
  data.frame(name = column(2), operator = column(3), version = column(4))
}

# Return the fields of a package at its pinned version, or the newest; NULL if it is not available.
description_of <- function(name, pins, offered) {
  is_offered <- name %in% rownames(offered)
  if (is_offered && (!name %in% names(pins) || pins[[name]] == offered[name, "Version"])) return(offered[name, fields])
  if (!name %in% names(pins)) return(NULL)
  file <- source_file(name, pins[[name]])
  if (!is.null(file)) described(file, name)
}

# Return the descriptions of the requested packages and of all their dependencies as `found`, or the name of one that is
# not available as `lacking`.
closure <- function(names, pins, own, offered) {
  found <- list()
  while (length(names)) {
    name <- names[1]
    names <- names[-1]
    if (name %in% names(found)) next
    description <- description_of(name, pins, offered)
    if (is.null(description)) return(list(lacking = name))
    found[[name]] <- description
    names <- c(names, setdiff(needs_of(description)$name, names(own)))
  }
  list(found = found)
}

# Return a table of unmet dependencies: the dependent package (`by`), the dependency and its version.
unmet_needs <- function(requested, found, own) {
  versions <- c(own[setdiff(names(own), names(found))], vapply(found, `[[`, "", "Version"))
  needs <- c(list("what is asked for" = requested), lapply(found, needs_of))
  needs <- do.call(rbind, Map(function(by, table) cbind(by = rep(by, nrow(table)), table), names(needs), needs))
  needs <- needs[nzchar(needs$operator), ]
  is_met <- mapply(function(name, operator, version) {
    match.fun(operator)(numeric_version(versions[[name]]), numeric_version(version))
  }, needs$name, needs$operator, needs$version)
  needs[!as.logical(is_met), ]
}

# Choose the versions and download their sources. Installed versions are kept unless a package needs another one.
resolve <- function() {
  requested <- read_requirements("requested")
  of_r <- intersect(requested$name, names(own_packages("base")))
  if (length(of_r)) stop(of_r[1], " is a part of R itself and in every environment")
  own <- own_packages("high")
  own <- own[setdiff(names(own), requested$name)]
  exact <- requested[requested$operator == "==", ]
  exact <- setNames(exact$version, exact$name)
  kept <- read_pins("kept")
  kept <- kept[setdiff(names(kept), names(exact))]
  offered <- if (nrow(requested)) offered_packages()
  repeat {
    result <- closure(requested$name, c(exact, kept), own, offered)
    if (is.null(result$lacking)) {
      unmet <- unmet_needs(requested, result$found, own)
      if (!nrow(unmet)) break
      in_the_way <- c(unmet$name, unmet$by)
    } else {
      in_the_way <- result$lacking
    }
    is_recommended <- in_the_way %in% setdiff(names(own), names(own_packages("base")))
    if (!any(in_the_way %in% names(kept)) && !any(is_recommended)) stop(why_not(result, unmet, exact, offered))
    kept <- kept[setdiff(names(kept), in_the_way)]
    own <- own[setdiff(names(own), in_the_way[is_recommended])]
  }
  versions <- vapply(result$found, `[[`, "", "Version")
  fetch(versions)
  unlink(file.path("sources", setdiff(list.files("sources"), sprintf("%s_%s.tar.gz", names(versions), versions))))
  writeLines(sprintf("%s==%s", names(versions), versions), "chosen")
}

# Return why no versions fit.
why_not <- function(result, unmet, exact, offered) {
  name <- result$lacking
  if (is.null(name)) {
    need <- paste(unmet$name[1], unmet$operator[1], unmet$version[1])
    return(sprintf("%s needs %s, which does not go together with the rest", unmet$by[1], need))
  }
  where <- paste(source_addresses(), collapse = ", ")
  if (!name %in% rownames(offered)) offer <- "has none of that name for this R"
  else offer <- paste("offers", offered[name, "Version"])
  wanted <- paste(c(name, exact[name][name %in% names(exact)]), collapse = " ")
  sprintf("there is no %s in %s, which %s", wanted, where, offer)
}

# Download the missing sources of these versions.
fetch <- function(versions) {
  for (name in names(versions)) {
    if (is.null(source_file(name, versions[[name]]))) {
      where <- paste(source_addresses(), collapse = ", ")
      stop(sprintf("%s %s could not be fetched from %s", name, versions[[name]], where))
    }
  }
}

# Return how many packages to install at once: R's setting, or one per processor if there is a `make`, which R needs to
# keep their order.
side_by_side <- function() {
  usual <- if (nzchar(Sys.which("make"))) max(1, parallel::detectCores(), na.rm = TRUE) else 1
  getOption("Ncpus", usual)
}

# Install the packages that are missing in the library, dependencies first.
install <- function() {
  missing <- readLines("missing")
  tools::write_PACKAGES("sources", type = "source")
  dir.create("outputs")
  repository <- paste0("file://", normalizePath("sources"))
  install.packages(
    missing,
    lib = library_folder,
    contriburl = repository,
    type = "source",
    dependencies = FALSE,
    Ncpus = side_by_side(),
    keep_outputs = "outputs"
  )
  failed <- setdiff(missing, list.files(library_folder))
  if (length(failed)) {
    outputs <- list.files("outputs", full.names = TRUE)
    for (file in outputs[order(file.mtime(outputs), decreasing = TRUE)]) {  # the first that failed is told last
      if (sub("[.]out$", "", basename(file)) %in% failed) writeLines(readLines(file))
    }
    quit(status = 1)
  }
}

# Stop unless the library contains exactly the chosen packages, and all can be loaded.
verify <- function() {
  chosen <- read_pins("chosen")
  there <- installed.packages(lib.loc = library_folder, noCache = TRUE)[, c("Package", "Version"), drop = FALSE]
  differing <- setdiff(paste(names(chosen), chosen), paste(there[, 1], there[, 2]))
  differing <- c(differing, setdiff(there[, 1], names(chosen)))
  if (length(differing)) {
    stop("the library does not hold what was installed into it: ", paste(differing, collapse = ", "))
  }
  for (name in names(chosen)) {
    tryCatch(loadNamespace(name, lib.loc = library_folder), error = function(failed) {
      stop(name, " was installed but cannot be loaded: ", conditionMessage(failed))
    })
  }
}

# Regardless of a profile, use only R's own packages and the environment's, with output for machines.
if ("include.site" %in% names(formals(.libPaths))) {  # R 4.1; some systems' settings bring the machine's library back
  .libPaths(library_folder, include.site = FALSE)
} else {
  .libPaths(library_folder)
}
options(warn = 1, timeout = 1800, menu.graphics = FALSE)
steps <- list(resolve = resolve, fetch = function() fetch(read_pins("chosen")), install = install, verify = verify)
tryCatch(steps[[commandArgs(trailingOnly = TRUE)]](), error = function(failed) {
  message(conditionMessage(failed))
  quit(status = 1)
})
