// swift-tools-version: 6.1

import PackageDescription

// A package of its own: what the benchmarks compare with is never a dependency of the product.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "OpenCoreData", path: "..")],
    targets: [
        .target(name: "PlainItems"),
        .target(name: "CountAllocations"),
        .executableTarget(
            name: "coredata-benchmarks",
            dependencies: [
                "PlainItems", "CountAllocations", .product(name: "CoreData", package: "OpenCoreData"), .product(name: "Predicates", package: "OpenCoreData"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ]
)
