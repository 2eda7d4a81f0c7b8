// swift-tools-version: 6.1

import PackageDescription

// A package of its own: what the benchmarks compare with is never a dependency of the product.
let package = Package(
    name: "Benchmarks",
    traits: [
        .trait(name: "PostgreSQL", description: "The rows of the PostgreSQL store. Needs the headers of libpq, and a server's programs.")
    ],
    dependencies: [
        .package(
            name: "OpenCoreData", path: "..",
            traits: ["WebBackend", .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
        .package(name: "LogStore", path: "../Examples/LogStore"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        // The server that the rows of web services ask.
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    ],
    targets: [
        .target(name: "PlainItems"),
        .target(name: "CountAllocations"),
        .target(name: "MachineSettings"),
        // A name of its own, for packages in one graph cannot have targets of the same name.
        .systemLibrary(name: "BenchmarkSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "BenchmarkPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CountStatements", dependencies: ["BenchmarkSQLite"]),
        .executableTarget(
            name: "coredata-benchmarks",
            dependencies: [
                "PlainItems", "CountAllocations", "MachineSettings", "BenchmarkSQLite", "CountStatements",
                .product(name: "CoreData", package: "OpenCoreData"), .product(name: "FileStores", package: "OpenCoreData"),
                .product(name: "LogStore", package: "LogStore"), .product(name: "Predicates", package: "OpenCoreData"),
                .product(name: "RemoteStore", package: "OpenCoreData"), .product(name: "WebBackend", package: "OpenCoreData"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "PostgreSQLStore", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "BenchmarkPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
