#if Macros
import CoreDataMacros
import Testing

/// A class that a transformable attribute of the model names.
final class Mood: NSObject {}

/// Models written as classes that declare their entities. `EverythingClasses.swift` beside this file is what is written for
/// `Models/Everything.xcdatamodel`: it is compiled with the tests.
struct CodeFirstSourceTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private static func everything() throws -> NSManagedObjectModel {
        try NSManagedObjectModel(reading: folder.appendingPathComponent("Models/Everything.xcdatamodel"))
    }

    @Test func theSourceOfAModelIsAlwaysTheSame() throws {
        let file = Self.folder.appendingPathComponent("EverythingClasses.swift")
        let source = try Self.everything().codeFirstSource(functionName: "everything")
        #expect(try source.split(separator: "\n") == String(contentsOf: file, encoding: .utf8).split(separator: "\n"))
    }

    @Test func theClassesOfTheSourceMakeTheSameModel() throws {
        let made = try NSManagedObjectModel.everything()
        let model = try Self.everything()
        // The classes are in this module, wherever the model says that they are.
        for entity in made.entities + model.entities { entity.managedObjectClassName = "" }
        #expect(made.differences(from: model, includingFileAttributes: false) == [])
        #expect(made.isEqual(model))
    }

    @Test func whatClassesCannotDeclareIsAnErrorThatNamesThePlace() throws {
        func reason(_ change: (NSEntityDescription, NSEntityDescription) -> Void) -> String {
            let album = NSEntityDescription(name: "Album")
            let track = NSEntityDescription(name: "Track")
            change(album, track)
            do { return try NSManagedObjectModel(entities: [album, track]).codeFirstSource() } catch {
                #expect((error as NSError).code == CocoaError.Code.fileWriteUnknown.rawValue)
                return error.localizedDescription
            }
        }
        #expect(reason { $1.managedObjectClassName = "Album" }.contains("Track: Its class would be “Album”, as that of “Album” is"))
        #expect(
            reason { album, _ in album.properties = [NSAttributeDescription(name: "mood", type: .transformable, defaultValue: NSObject())] }
                .contains("Album.mood: There is no literal for its default value."))
        #expect(reason { album, _ in album.userInfo = ["a": 1] }.contains("Album: The user info “a” is not a text."))
        #expect(
            reason { album, _ in album.properties = [NSAttributeDescription(name: "x", type: .undefined)] }.contains(
                "“Album.x” has no type."))
    }
}
#endif
