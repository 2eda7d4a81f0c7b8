"""The parts of the gate: what every run takes, and what is taken in turn."""
from dataclasses import dataclass

from steps import BUILD, SCRATCH, TRAITS, Command, Tests


@dataclass(frozen=True)
class Part:
    """A part that runs in turn, and where the files that it is about have changed."""

    name: str
    # What it shows, as a sentence.
    about: str
    # Expected minutes beyond what every run takes.
    minutes: float
    # A change of a file whose path begins with one of these calls for the part. Without any it goes by turns only: it concerns every file.
    paths: tuple[str, ...] = ()
    # Traits of the one build of the run, besides those of every run.
    traits: tuple[str, ...] = ()
    # Test targets that only the runs with this part build.
    targets: tuple[str, ...] = ()
    # Whether a change of anything that these targets are built of calls for the part: its outcome depends on nothing else.
    follows_targets: bool = False
    # What the run's build and its tests find in the environment.
    environment: tuple[tuple[str, str], ...] = ()
    # Debian's packages that it needs.
    packages: tuple[str, ...] = ()
    steps: tuple[object, ...] = ()


# The traits that every run's build has, and Debian's packages that it needs. Stores in files, descriptions of services and their planning need no more.
BASE_TRAITS = ("YAML",)
BASE_PACKAGES = ()
# Expected minutes of what every run takes.
BASE_MINUTES = 5

# The folders of all that `import CoreData` gives, and of what its tests are built of.
GRAPH = (
    "Package.swift", "Sources/ArchiveStores", "Sources/CoreData/", "Sources/CoreDataRegistration", "Sources/CoreDataRuntime", "Sources/CSQLite",
    "Sources/CZlib", "Sources/MappedTables", "Sources/Migration", "Sources/ModelFiles", "Sources/ObjectGraph", "Sources/Platform", "Sources/Predicates",
    "Sources/PropertyLists", "Sources/SQLQueries", "Sources/SQLiteStore", "Sources/TakenNames", "Tests/PredicateCases", "Tests/TestSupport",
    "Tests/TableCases",
)
# The program that tests kill, and what it is built of.
WRITER = ("Sources/RemoteStore", "Sources/StoreConformance", "Tests/StoreWriter", "Tests/WriterVersions")

# What needs no build comes first: a line's length must not cost an hour.
CHEAP = (
    Command("format", ("Scripts/check-format",), 20, limit=5),
    Command("deviations", ("Scripts/check-deviations",), 1, limit=2),
    Command("input", ("Scripts/check-input",), 2, limit=2),
    Command("turns", ("python3", "-m", "unittest", "discover", "-s", "Scripts/gate", "-p", "test_*.py"), 1, limit=2),
)

# The folder of the run's build: apart from the ordinary one, whose files have other flags.
BUILD_FOLDER = ".build-whole"
# Each module is compiled as a whole, and without notes for a debugger: half the work of a build that is to be continued.
BUILD_FLAGS = (
    "-debug-info-format", "none", "-Xswiftc", "-whole-module-optimization", "-Xswiftc", "-num-threads", "-Xswiftc", "2",
    # The compiler would read and check each module twice, so that what others import of it is there sooner. SwiftPM waits for the whole module.
    "-Xswiftc", "-no-emit-module-separately-wmo",
)

# A test that computes for long, in a process of its own: servers in the others' would wait for their turn.
KEYS = r"^WebBackendTests\.EveryKeyTests"

# The tests of every run's own targets.
BASE_TESTS = (
    Tests("web services", r"^WebBackendTests\.", 130, skip=KEYS),
    Tests("examples", r"^(BandcampTests|PalettesTests|GitHubTests|DemoTests|SampleServiceTests|ToDoTests|ExampleSupportTests)\.", 10),
    Tests("keys of descriptions", KEYS, 25),
)
# What is in no group is in this one, so that a new target is never left out.
OTHER_TESTS = Tests("all others", "", 85)

# The graph's long random programs, in a process of their own.
PROGRAMS = (r"^CoreDataTests\.(Program|Differential|RandomUndo|RandomGivingWay|RandomModel|QueryDifferential|SideBySide|Soak|PowerFailure|MigrationPower"
            r"|Durability|EightThreads|GraphInvariant)")

# The remote store's random programs and simulations, in a process of their own.
SIMULATIONS = (r"^RemoteStoreTests\.(Simulation|OutboxRandom|RandomFetch|CombinedRandom|RemoteSoak|KilledCache|KeyLifetime|LostThenRefused|RecordCoder"
               r"|PendingTransition|Folding|FollowingRequests|MovingPages)")

# What reads the build.
AFTER_BUILD = (
    Command("list of Apple's API", ("Scripts/api-coverage", "--check", "--scratch-path", BUILD_FOLDER), 4, limit=5),
    Command("order", ("Scripts/check-order", "--built", "--scratch-path", BUILD_FOLDER), 5, limit=5),
    Command("blocks of the documentation", ("Scripts/check-examples", "--traits", TRAITS, BUILD), 60, limit=15),
)

PARTS = (
    Part(
        "graph", "The object graph, its predicates and its queues behave as Core Data's do.", 2.5,
        paths=(*GRAPH, *WRITER, "Tests/CoreDataTests", "Tests/PredicatesTests", "Tests/RandomPrograms"),
        targets=("CoreDataTests", "PredicatesTests"), follows_targets=True,
        steps=(
            Tests("CoreDataTests, programs and stress", PROGRAMS, 55),
            Tests("CoreDataTests, A to K", r"^CoreDataTests\.[A-K]", 95, skip=PROGRAMS),
            Tests("CoreDataTests, L to Z", r"^CoreDataTests\.[L-Z]", 230, skip=PROGRAMS),
            Tests("PredicatesTests", r"^PredicatesTests\.", 40))),
    Part(
        "files", "Stores in files of every kind, models in files, and migrations between them.", 1.5,
        paths=(*GRAPH, *WRITER, "Sources/FileStores", "Sources/JSONReading", "Sources/ModelCodeGeneration", "Tests/ArchiveStoresTests",
               "Tests/FileStoreWriter", "Tests/FileStoresTests", "Tests/MigrationTests", "Tests/ModelCodeGenerationTests",
               "Tests/SQLiteTablesTests"),
        targets=("ArchiveStoresTests", "FileStoresTests", "MigrationTests", "ModelCodeGenerationTests", "SQLiteTablesTests"),
        follows_targets=True,
        steps=(
            Tests("MigrationTests", r"^MigrationTests\.", 60),
            Tests("ArchiveStoresTests", r"^ArchiveStoresTests\.", 12),
            Tests("files, tables and models", r"^(FileStoresTests|ModelCodeGenerationTests|SQLiteTablesTests)\.", 115))),
    Part(
        "remote", "Stores over backends, with their planner, cache and outbox.", 2.5,
        paths=(*GRAPH, *WRITER, "Tests/RemoteStoreTests"), targets=("RemoteStoreTests",), follows_targets=True,
        steps=(
            Tests("RemoteStoreTests, programs and simulations", SIMULATIONS, 160),
            Tests("RemoteStoreTests", r"^RemoteStoreTests\.", 160, skip=SIMULATIONS))),
    Part(
        "postgresql", "Stores in PostgreSQL databases, over a server and a pool that the tests start.", 1.5,
        paths=("Sources/PostgreSQLStore", "Sources/SQLQueries", "Sources/MappedTables", "Tests/PostgreSQLStoreTests", "Tests/TableCases",
               "Examples/Demo"),
        traits=("PostgreSQL",), targets=("PostgreSQLStoreTests",), packages=("postgresql", "libpq-dev", "pgbouncer"),
        steps=(Tests("PostgreSQLStoreTests", r"^PostgreSQLStoreTests\.", 300, waits=True),)),
    Part(
        "network", "Requests go over real sockets, with and without encryption; articles that use the network compile.", 1.5,
        paths=("Sources/WebTransport", "Tests/WebTransportTests", "Examples/Support"),
        # The tests and the blocks of the documentation, which every run takes, see the trait.
        traits=("WebBackend",), targets=("WebTransportTests",), steps=(Tests("WebTransportTests", r"^WebTransportTests\.", 6),)),
    Part(
        "command", "The command works in a terminal, and its explorer in a browser.", 2.5,
        paths=("Sources/Explorer", "Sources/StoreCommands", "Sources/CoreDataCommand", "Tests/ExplorerTests", "Tests/StoreCommandsTests"),
        traits=("Command",), targets=("StoreCommandsTests", "ExplorerTests"), packages=("chromium", "chromium-driver"),
        steps=(Tests("StoreCommandsTests", r"^StoreCommandsTests\.", 60), Tests("ExplorerTests", r"^ExplorerTests\.", 45, alone=True))),
    Part(
        "macros", "Models declared as Swift classes: their macros, and what becomes of them.", 1.5,
        paths=("Sources/CoreDataMacro", "Sources/TakenNames", "Tests/CoreDataMacroTests"),
        traits=("Macros",), targets=("CoreDataMacroTests",), steps=(Tests("CoreDataMacroTests", r"^CoreDataMacroTests\.", 10),)),
    Part(
        "accessors", "The sources of macros and of @NSManaged accessors, and packages that use them.", 9,
        paths=("Sources/Managed", "Sources/CoreDataMacroPlugin", "Plugins/ManagedAccessors", "Tests/MacroExpansion", "Examples/ModelLayer",
               "Examples/KeptClasses", "Tests/Packages/MixedTargets"),
        steps=(
            Command("tests of macros and accessors",
                    ("swift", "test", "--package-path", "Tests/MacroExpansion", "--scratch-path", f"{SCRATCH}/accessors"), 240),
            Command("packages with accessors", ("Scripts/check-packages", "accessors"), 300))),
    Part(
        "packages", "Packages that depend on this one build without any trait: a model alone, a store, a backend.", 4,
        paths=("Plugins/ModelCompiler", "Plugins/ShipModels", "Sources/ModelCo", "Examples/LogStore", "Examples/Redis",
               "Tests/Packages/ModelOnly"),
        packages=("libhiredis-dev", "redis-server"),
        steps=(Command("packages without traits", ("Scripts/check-packages", "plain"), 330),)),
    Part(
        "web-servers", "Stores over Kinto and Django, which the tests start.", 2,
        paths=("Tests/WebServers/Sources", "Tests/WebServers/Tests", "Examples/ToDo/Sources"),
        traits=("WebBackend",), environment=(("COREDATA_WEB_SERVERS", "1"), ("WEB_SERVERS_REQUIRED", "1")),
        packages=("python3", "python3-venv"),
        steps=(Tests("WebServerTests", r"^WebServerTests\.", 120, waits=True),)),
    Part(
        "network-package", "A package that depends on this one and enables the network builds, and has the network's packages alone.", 12,
        paths=("Tests/WebServers/Package.swift", "Examples/ToDo/Package.swift"),
        steps=(Command("package with the network", ("Scripts/check-packages", "network"), 700, limit=40),)),
    Part(
        "threads", "The thread sanitizer finds no data race in contexts, caches and stores.", 9,
        steps=(Command("thread sanitizer", ("Scripts/check-threads",), 540, limit=25),)),
    Part(
        "release", "The optimizer compiles the libraries, the programs and most tests without a warning.", 13,
        steps=(Command("release build", ("Scripts/check-release",), 780, limit=40),)),
    Part(
        "release-tests", "The optimizer compiles the largest test targets without a warning.", 13,
        steps=(Command("release build of the largest tests", ("Scripts/check-release", "largest"), 780, limit=40),)),
    Part(
        "traits", "What depends on a trait compiles with none, and with each alone.", 10,
        paths=("Package.swift",),
        steps=(Command("traits alone", ("Scripts/check-traits",), 500, limit=30),)),
)

BY_NAME = {part.name: part for part in PARTS}
