// swift-tools-version: 6.1

import PackageDescription

/// Instrumented and linked with libFuzzer, which swiftc brings.
func fuzzer(_ name: String, of products: String...) -> Target {
    .executableTarget(
        name: name, dependencies: ["FuzzDriver"] + products.map { .product(name: $0, package: "OpenCoreData") },
        swiftSettings: [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
        linkerSettings: [
            .unsafeFlags([
                "-sanitize=fuzzer", "-Xlinker", "--wrap=__sanitizer_cov_trace_pc_guard_init", "-Xlinker",
                "--wrap=__sanitizer_cov_trace_pc_guard",
            ])
        ])
}

// A package of its own, so that nothing of it reaches those who use the product. Scripts/fuzz builds and runs it.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "OpenCoreData", path: "..", traits: ["WebBackend"])],
    targets: [
        .target(name: "FuzzCoverage"),
        .target(name: "FuzzDriver", dependencies: ["FuzzCoverage"]),
        fuzzer("FuzzPredicates", of: "Predicates"),
        fuzzer("FuzzTransformables", of: "ObjectGraph"),
        fuzzer("FuzzMappings", of: "CoreData"),
        fuzzer("FuzzFiles", of: "CoreData", "FileStores"),
        fuzzer("FuzzModels", of: "CoreData"),
        fuzzer("FuzzAnswers", of: "CoreData", "WebBackend"),
    ]
)
