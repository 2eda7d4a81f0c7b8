// swift-tools-version: 6.1

import PackageDescription

// A consumer of CoreData and ModelCompiler and of nothing else: what is built for it is all that such a package costs.
let package = Package(
    name: "ModelOnly",
    dependencies: [.package(name: "OpenCoreData", path: "../../..")],
    targets: [
        .executableTarget(
            name: "ModelOnly", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ],
            plugins: [.plugin(name: "ModelCompiler", package: "OpenCoreData")])
    ]
)
