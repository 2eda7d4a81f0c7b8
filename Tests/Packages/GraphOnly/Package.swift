// swift-tools-version: 6.1

import PackageDescription

// A consumer of the object graph and of nothing else: it must link no SQLite.
let package = Package(
    name: "GraphOnly",
    dependencies: [.package(name: "OpenCoreData", path: "../../..")],
    targets: [
        .executableTarget(
            name: "GraphOnly", dependencies: [.product(name: "ObjectGraph", package: "OpenCoreData")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ]
)
