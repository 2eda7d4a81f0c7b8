import CoreData
import Foundation
import FuzzDriver

@main struct FuzzMappings {
    static func main() { fuzz { fuzzMappings($0, $1) } }
}

/// The parts of a file, which an input puts together: each byte below their number stands for one, any other for itself.
let parts = [
    "<database>", "</database>", "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\">", "<object type=\"XDDEVENTITYMAPPING\" id=\"z2\">",
    "<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z3\">", "<object type=\"XDDEVRELATIONSHIPMAPPING\" id=\"z4\">", "</object>",
    "<attribute name=\"name\" type=\"string\">", "<attribute name=\"sourcename\">", "<attribute name=\"destinationname\">", "</attribute>",
    "<attribute name=\"valueexpressiondata\">", "<attribute name=\"sourcefilterpredicatestring\">", "<attribute name=\"sourcekeypath\">",
    "<relationship name=\"entitymappings\" idrefs=\"z2\"/>", "<relationship name=\"attributemappings\" idrefs=\"z3 z4\"/>",
    "<relationship name=\"relationshipmappings\" idrefs=\"z4\"/>", "YnBsaXN0MDA=", "$source.a.@count", "\\u3c00", "A",
    "<!DOCTYPE database>",
]

/// An input may be read, or be an error; it must not stop the program.
func fuzzMappings(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    for data in [Data(bytes), Data(assembled(bytes, of: parts))] {
        guard let mapping = try? NSMappingModel(reading: data) else { continue }
        let copy = mapping.copy() as? NSMappingModel
        guard copy == mapping else { fatalError("A copy differs.") }
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "A")])
        try? mapping.validate(forSourceModel: model, destinationModel: model)
    }
    return 0
}
