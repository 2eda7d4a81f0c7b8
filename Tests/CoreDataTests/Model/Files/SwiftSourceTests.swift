import CoreData
import TestSupport
import Testing

/// Models as Swift source. `SampleModel.swift` beside this file is what is written for the sample of `ContentsTests`: it is compiled with the tests.
struct SwiftSourceTests {
    private static var file: URL { URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("SampleModel.swift") }

    @Test func theSourceOfAModelIsAlwaysTheSame() throws {
        let source = try ContentsTests.model().swiftSource(functionName: "sample")
        try expect(source, equals: String(contentsOf: Self.file, encoding: .utf8))
    }

    @Test func theModelThatTheSourceMakesIsTheSame() throws {
        let made = NSManagedObjectModel.sample()
        let model = try ContentsTests.model()
        #expect(made.isEqual(model))
        // The diagram of Xcode, and how a default value was spelled, are of no use in source.
        #expect(made.differences(from: model).filter { !$0.hasPrefix("model: diagram") }.isEmpty)
        expect(made.entityVersionHashesByName, equals: model.entityVersionHashesByName)
    }

    @Test func whateverEntitiesAndTextsAreCalledTheSourceIsSwift() throws {
        let attribute = NSAttributeDescription(name: "größe", type: .string, defaultValue: "\"\\(x)\n\u{0}\u{2028}")
        let other = NSAttributeDescription(name: "größe2", type: .integer64, defaultValue: -3)
        let model = NSManagedObjectModel(entities: [
            NSEntityDescription(name: "1st Größe", properties: [attribute, other]), NSEntityDescription(name: "_1st_Gr__e"),
        ])
        let source = try model.swiftSource()
        #expect(source.contains("let _1st_Gr__e = NSEntityDescription(name: \"1st Größe\")"))
        #expect(source.contains("let __1st_Gr__e = NSEntityDescription(name: \"_1st_Gr__e\")"))
        #expect(source.contains(#"defaultValue: "\"\\(x)\n\u{0}\u{2028}")"#))
    }

    @Test func whatHasNoLiteralIsAnErrorThatNamesThePlace() {
        let attribute = NSAttributeDescription(name: "mood", type: .transformable, defaultValue: NSObject())
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Album", properties: [attribute])])
        let error = failure { _ = try model.swiftSource() }
        expect(error?.code, equals: 512)
        expect(error?.localizedDescription.contains("Album.mood: There is no literal for its default value."), equals: true)
    }
}
