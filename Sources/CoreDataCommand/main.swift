#if Command
internal import StoreCommands

CommandRun.main(adding: [ServeCommand.self])
#else
internal import Foundation

FileHandle.standardError.write(Data("coredata: built without its commands. Build it again with “--traits Command”.\n".utf8))
exit(69)
#endif
