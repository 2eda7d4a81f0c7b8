internal import Foundation
enum MappingModelFile {
    static func read(_ url: URL) throws -> NSMappingModel { NSMappingModel() }
}
